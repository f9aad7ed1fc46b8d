import { Outlet } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useShortcuts } from '../hooks/shortcuts.ts'
import { HelpDialog } from './HelpDialog.tsx'
import { MobileNavigation } from './navigation/MobileNavigation.tsx'
import type { NavigationGroup } from './navigation/navigation.ts'
import { SideNavigation } from './navigation/SideNavigation.tsx'
import { useGoShortcuts } from './navigation/useGoShortcuts.ts'
import { strings } from './strings.ts'
import { TopBar } from './top-bar/TopBar.tsx'
import { useHeadingFocus } from './useHeadingFocus.ts'

const CommandPalette = lazy(() =>
  import('./palette/CommandPalette.tsx').then(module => ({ default: module.CommandPalette })),
)

interface AppFrameProps {
  readonly navigation: readonly NavigationGroup[]
  /** The status strip: what needs somebody; nothing when all is well. */
  readonly status?: ReactNode
}

/** The frame of both houses: top bar, navigation, status strip, the screen. */
export function AppFrame({ navigation, status }: AppFrameProps) {
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  useHeadingFocus()
  useGoShortcuts(navigation)
  useShortcuts(strings.general, [
    { key: '?', label: strings.openHelp, run: () => setHelpOpen(true) },
    { key: 'mod+k', label: strings.search, run: () => setPaletteOpen(true) },
  ])
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {strings.skip}
      </a>
      <TopBar onSearch={() => setPaletteOpen(true)} onHelp={() => setHelpOpen(true)} />
      <div className="mx-auto flex w-full max-w-[84rem] flex-1">
        <SideNavigation groups={navigation} />
        <div className="flex min-w-0 flex-1 flex-col">
          {status}
          <main id="content" tabIndex={-1} className="min-w-0 flex-1 px-4 pt-5 pb-24 sm:px-8 sm:pt-7 lg:pb-16">
            <Outlet />
          </main>
        </div>
      </div>
      <MobileNavigation groups={navigation} />
      <HelpDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
      {isPaletteOpen && (
        <Suspense>
          <CommandPalette
            onClose={() => setPaletteOpen(false)}
            onHelp={() => setHelpOpen(true)}
            navigation={navigation}
          />
        </Suspense>
      )}
    </div>
  )
}
