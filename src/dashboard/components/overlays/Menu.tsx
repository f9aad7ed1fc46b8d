import * as Ariakit from '@ariakit/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { classes } from '../classes.ts'

const item =
  'flex min-h-8 w-full cursor-default items-center gap-2 rounded-md px-2 py-1 text-left text-sm outline-none data-active-item:bg-hover ' +
  'aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint pointer-coarse:min-h-10'

interface MenuProps {
  /** The button that opens it: `<Button …>` or `<IconButton …>`. */
  readonly button: ReactElement
  /** {@link MenuItem}, {@link MenuLink}, {@link MenuLabel} and {@link MenuSeparator}. */
  readonly children: ReactNode
}

/** A button that opens a list of actions or links, with the keyboard as the platform's menus have it. */
export function Menu({ button, children }: MenuProps) {
  return (
    <Ariakit.MenuProvider>
      <Ariakit.MenuButton render={button} />
      <Ariakit.Menu
        portal
        gutter={4}
        unmountOnHide
        className="z-50 max-h-[min(28rem,var(--popover-available-height))] min-w-44 max-w-xs overflow-auto rounded-lg bg-raised p-1 text-ink shadow-pop outline-none"
      >
        {children}
      </Ariakit.Menu>
    </Ariakit.MenuProvider>
  )
}

interface MenuItemProps {
  readonly icon?: ReactNode
  readonly children: ReactNode
  readonly onSelect: () => void
  readonly isDisabled?: boolean
  readonly isDanger?: boolean
  /** Is this what holds now? Drawn with a tick. */
  readonly isCurrent?: boolean
}

/** An action of a menu. */
export function MenuItem({ icon, children, onSelect, isDisabled = false, isDanger = false, isCurrent }: MenuItemProps) {
  return (
    <Ariakit.MenuItem
      disabled={isDisabled}
      onClick={onSelect}
      aria-current={isCurrent}
      className={classes(item, isDanger && 'text-bad [&_svg]:text-bad', isCurrent && 'font-medium')}
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {isCurrent && <Tick />}
    </Ariakit.MenuItem>
  )
}

interface MenuLinkProps {
  readonly icon?: ReactNode
  readonly children: ReactNode
  /** A router's `<Link …/>`, without children. */
  readonly link: ReactElement
  readonly isCurrent?: boolean
}

/** A link of a menu. */
export function MenuLink({ icon, children, link, isCurrent = false }: MenuLinkProps) {
  return (
    <Ariakit.MenuItem render={link} className={classes(item, isCurrent && 'font-medium')}>
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {isCurrent && <Tick />}
    </Ariakit.MenuItem>
  )
}

/** A heading within a menu. */
export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <div className="truncate px-2 pt-1.5 pb-1 text-xs font-medium text-faint">{children}</div>
}

export function MenuSeparator() {
  return <Ariakit.MenuSeparator className="-mx-1 my-1 border-line" />
}

function Tick() {
  return (
    <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
      <path d="m3 8.5 3.2 3.2L13 5" />
    </svg>
  )
}
