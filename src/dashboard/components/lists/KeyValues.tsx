import type { ReactNode } from 'react'

interface KeyValuesProps {
  /** Name and value of each; null is left out. */
  readonly items: readonly (readonly [name: string, value: ReactNode] | null)[]
}

/** Facts about one thing, a line each. */
export function KeyValues({ items }: KeyValuesProps) {
  return (
    <dl className="grid grid-cols-1 gap-x-6 text-sm sm:grid-cols-[minmax(8rem,auto)_1fr]">
      {items.flatMap(item =>
        item
          ? [
              <div
                key={item[0]}
                className="grid grid-cols-subgrid border-b border-line py-2 last:border-0 sm:col-span-2"
              >
                <dt className="text-faint">{item[0]}</dt>
                <dd className="min-w-0 break-words">{item[1]}</dd>
              </div>,
            ]
          : [],
      )}
    </dl>
  )
}
