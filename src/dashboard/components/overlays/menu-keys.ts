/** The items of a menu that can have the focus, in their order. */
export function itemsOf(menu: HTMLElement): readonly HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role^=menuitem]')]
}

/**
 * The item that a key moves the focus to; undefined: the key is not for the menu.
 * @param key as `KeyboardEvent.key` has it
 */
export function itemToFocus(
  key: string,
  items: readonly HTMLElement[],
  focused: Element | null,
): HTMLElement | undefined {
  const now = items.indexOf(focused as HTMLElement)
  switch (key) {
    case 'ArrowDown':
      return items[(now + 1) % items.length]
    case 'ArrowUp':
      return items.at(now < 0 ? -1 : now - 1)
    case 'Home':
      return items[0]
    case 'End':
      return items.at(-1)
    default:
      return key.length === 1 && key !== ' ' ? startingWith(key, [...items.slice(now + 1), ...items]) : undefined
  }
}

function startingWith(letter: string, items: readonly HTMLElement[]): HTMLElement | undefined {
  return items.find(item => item.textContent.trim().toLowerCase().startsWith(letter.toLowerCase()))
}

export function focusItem(item: HTMLElement | undefined): void {
  item?.focus({ preventScroll: false })
}
