import {
  cloneElement,
  createContext,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
} from 'react'
import { classes } from '../classes.ts'
import { focusItem, itemsOf, itemToFocus } from './menu-keys.ts'
import { usePopover } from './usePopover.ts'

const item =
  'flex min-h-8 w-full cursor-default items-center gap-2 rounded-md px-2 py-1 text-left text-sm font-normal outline-none ' +
  'focus:bg-hover hover:bg-hover aria-disabled:opacity-55 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-faint pointer-coarse:min-h-10'

/** Closes the menu that an item is in. */
const CloseContext = createContext<() => void>(() => undefined)

interface MenuProps {
  /** The button that opens it: `<Button …>` or `<IconButton …>`. */
  readonly button: ReactElement<object>
  /** {@link MenuItem}, {@link MenuLink}, {@link MenuLabel} and {@link MenuSeparator}; drawn only while it is open. */
  readonly children: ReactNode
}

/**
 * A button that opens a list of actions or links, with the keys of the platform's menus: arrows, Home, End, a letter, Escape
 * (https://www.w3.org/WAI/ARIA/apg/patterns/menu-button/).
 */
export function Menu({ button, children }: MenuProps) {
  const { isOpen, close, panelRef, buttonProps, panelProps } = usePopover()
  useEffect(() => {
    if (isOpen && panelRef.current) focusItem(itemsOf(panelRef.current)[0])
  }, [isOpen, panelRef])
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === 'Tab') close()
    const next = itemToFocus(event.key, itemsOf(event.currentTarget), document.activeElement)
    if (!next) return
    event.preventDefault()
    focusItem(next)
  }
  return (
    <>
      {cloneElement(button, { ...buttonProps, 'aria-haspopup': 'menu' } as object)}
      <div
        {...panelProps}
        ref={panelRef}
        role="menu"
        tabIndex={-1}
        aria-labelledby={buttonProps.id}
        onKeyDown={onKeyDown}
        className="fixed inset-auto m-0 max-w-xs min-w-44 overflow-auto rounded-lg bg-raised p-1 text-left text-ink shadow-pop outline-none"
      >
        <CloseContext value={close}>{isOpen && children}</CloseContext>
      </div>
    </>
  )
}

interface MenuItemProps {
  readonly icon?: ReactNode
  readonly children: ReactNode
  readonly onSelect: () => void
  readonly isDisabled?: boolean
  readonly isDanger?: boolean
  /** For a choice: is this the one that holds? Drawn with a tick. */
  readonly isCurrent?: boolean
}

/** An action of a menu, or one of its choices (`isCurrent` given). */
export function MenuItem({ icon, children, onSelect, isDisabled = false, isDanger = false, isCurrent }: MenuItemProps) {
  const close = useContext(CloseContext)
  const select = () => {
    if (isDisabled) return
    close()
    onSelect()
  }
  return (
    <button
      type="button"
      tabIndex={-1}
      {...(isCurrent === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': isCurrent })}
      aria-disabled={isDisabled || undefined}
      onClick={select}
      className={classes(item, isDanger && 'text-bad [&>svg]:text-bad', isCurrent && 'font-medium')}
    >
      <Content icon={icon} isCurrent={isCurrent ?? false}>
        {children}
      </Content>
    </button>
  )
}

interface MenuLinkProps {
  readonly icon?: ReactNode
  readonly children: ReactNode
  /** A router's `<Link …/>`, without children. */
  readonly link: ReactElement<object>
  readonly isCurrent?: boolean
}

/** A link of a menu. */
export function MenuLink({ icon, children, link, isCurrent = false }: MenuLinkProps) {
  const close = useContext(CloseContext)
  return cloneElement(
    link,
    { role: 'menuitem', tabIndex: -1, onClick: close, className: classes(item, isCurrent && 'font-medium') } as object,
    <Content icon={icon} isCurrent={isCurrent}>
      {children}
    </Content>,
  )
}

/** A heading within a menu. */
export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return (
    <div role="presentation" className="truncate px-2 pt-1.5 pb-1 text-xs font-medium text-faint">
      {children}
    </div>
  )
}

export function MenuSeparator() {
  return <hr className="-mx-1 my-1 border-t border-line" />
}

function Content({ icon, children, isCurrent }: Required<Pick<MenuLinkProps, 'icon' | 'children' | 'isCurrent'>>) {
  return (
    <>
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {isCurrent && (
        <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
          <path d="m3 8.5 3.2 3.2L13 5" />
        </svg>
      )}
    </>
  )
}
