import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { strings } from '../strings.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { BrandMenu } from './BrandMenu.tsx'
import { HouseMenu } from './HouseMenu.tsx'
import { Logo } from './Logo.tsx'

interface TopBarProps {
  readonly onSearch: () => void
  readonly onHelp: () => void
}

/** Where one is (organization, brand), search and commands, the account. */
export function TopBar({ onSearch, onHelp }: TopBarProps) {
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-surface">
      <div className="mx-auto flex h-12 max-w-[84rem] items-center gap-1 px-3 sm:px-4">
        <Link to="/" className="mr-1 rounded-md p-1" aria-label={strings.appName}>
          <Logo />
        </Link>
        <HouseMenu />
        <BrandMenu />
        <div className="flex-1" />
        <button
          type="button"
          onClick={onSearch}
          aria-keyshortcuts="Control+K"
          className="flex size-8 items-center justify-center gap-2 rounded-md text-sm text-faint hover:bg-hover hover:text-ink sm:w-64 sm:justify-start sm:border sm:border-line sm:bg-sunken sm:px-2.5 pointer-coarse:h-10"
        >
          <Search className="size-4 shrink-0" aria-hidden="true" />
          <span className="sr-only flex-1 text-left sm:not-sr-only">{strings.search}</span>
          <kbd className="hidden rounded-sm border border-line bg-surface px-1 font-sans text-2xs sm:inline">
            Ctrl K
          </kbd>
        </button>
        <AccountMenu onHelp={onHelp} />
      </div>
    </header>
  )
}
