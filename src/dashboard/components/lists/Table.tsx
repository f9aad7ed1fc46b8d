import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

/** A column of a {@link Table}. */
export interface Column<Row> {
  readonly key: string
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  /** Figures stand right. */
  readonly align?: 'left' | 'right'
  /** Takes what is left of the width; what does not fit is cut. One column has it. */
  readonly isWide?: boolean
  /** The heading of the card on narrow screens; one column has it. */
  readonly isTitle?: boolean
  /** Buttons or a menu, without a visible heading. */
  readonly isActions?: boolean
}

interface TableProps<Row> {
  /** What is listed, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
}

/** Rows and columns; below 640 px each row is a card with the names of the columns. */
export function Table<Row>({ label, columns, rows, rowKey }: TableProps<Row>) {
  return (
    <>
      <div className="hidden overflow-x-auto rounded-lg border border-line bg-surface sm:block">
        <table className="w-full border-collapse text-left text-sm" aria-label={label}>
          <thead>
            <tr className="border-b border-line bg-sunken">
              {columns.map(column => (
                <th
                  key={column.key}
                  scope="col"
                  className={classes(
                    'h-8 px-3 text-xs font-medium whitespace-nowrap text-faint',
                    column.align === 'right' && 'text-right',
                  )}
                >
                  {column.isActions ? <span className="sr-only">{column.label}</span> : column.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <tr key={rowKey(row)} className="border-b border-line transition-colors last:border-0 hover:bg-hover">
                {columns.map(column => (
                  <td
                    key={column.key}
                    className={classes(
                      'h-11 px-3 py-1.5 align-middle',
                      column.align === 'right' && 'tabular text-right',
                      column.isWide ? 'w-full max-w-0 truncate' : 'whitespace-nowrap',
                      column.isTitle && 'font-medium',
                      column.isActions && 'w-px py-0 text-right',
                    )}
                  >
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Cards label={label} columns={columns} rows={rows} rowKey={rowKey} />
    </>
  )
}

function Cards<Row>({ label, columns, rows, rowKey }: TableProps<Row>) {
  const title = columns.find(column => column.isTitle) ?? columns[0]
  const actions = columns.find(column => column.isActions)
  const rest = columns.filter(column => column !== title && column !== actions)
  return (
    <ul aria-label={label} className="flex flex-col gap-2 sm:hidden">
      {rows.map(row => (
        <li key={rowKey(row)} className="rounded-lg border border-line bg-surface p-3">
          <div className="flex min-h-7 items-center justify-between gap-2">
            <div className="min-w-0 truncate font-medium">{title?.cell(row)}</div>
            {actions?.cell(row)}
          </div>
          <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
            {rest.map(column => {
              const content = column.cell(row)
              return isEmpty(content) ? null : (
                <div key={column.key} className="contents">
                  <dt className="text-faint">{column.label}</dt>
                  <dd className="min-w-0 truncate text-right">{content}</dd>
                </div>
              )
            })}
          </dl>
        </li>
      ))}
    </ul>
  )
}

/** Draws nothing: a card leaves its line out. */
function isEmpty(content: ReactNode): boolean {
  return content === null || content === undefined || content === false || content === ''
}
