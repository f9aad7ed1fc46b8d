import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

interface KeyValuesProps {
  /** Name and value of each; null is left out. */
  readonly items: readonly (readonly [name: string, value: ReactNode] | null)[]
  /** In a narrow column: the value below its name. */
  readonly isStacked?: boolean
}

/** Facts about one thing, a line each. */
export function KeyValues({ items, isStacked = false }: KeyValuesProps) {
  return (
    <dl className={classes('grid grid-cols-1 gap-x-6 text-sm', !isStacked && 'sm:grid-cols-[minmax(8rem,auto)_1fr]')}>
      {items.flatMap(item =>
        item
          ? [
              <div
                key={item[0]}
                className="grid grid-cols-subgrid border-b border-line py-2 last:border-0 sm:col-span-full"
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
