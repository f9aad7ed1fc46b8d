import { type Context, defaultOperators, filters, type Operators } from 'liquidjs'
import type { RenderBudget } from './budget.ts'

interface FilterThis {
  readonly context: Context
}

type Handler = (this: FilterThis, value: unknown, ...args: readonly unknown[]) => unknown

/** The budget of the rendering that a filter or an operator runs in. */
export function budgetOf(context: Context): RenderBudget {
  return context.memoryLimit as unknown as RenderBudget
}

// The standard filters, by what they process. Left out are those that nest lists or evaluate expressions in strings, because
// their cost cannot be counted beforehand.
const textFilters = [
  ...['append', 'prepend', 'capitalize', 'downcase', 'upcase', 'escape', 'escape_once', 'newline_to_br', 'strip_html'],
  ...['strip', 'lstrip', 'rstrip', 'strip_newlines', 'truncate', 'truncatewords', 'url_encode', 'url_decode', 'join'],
  ...['base64_encode', 'base64_decode', 'normalize_whitespace', 'slugify', 'xml_escape', 'cgi_escape', 'uri_escape'],
]
const searchFilters = ['split', 'replace', 'replace_first', 'replace_last', 'remove', 'remove_first', 'remove_last']
const listFilters = [
  ...['compact', 'concat', 'find', 'find_index', 'first', 'has', 'last', 'map', 'reject', 'reverse', 'size', 'slice'],
  ...['sort', 'sort_natural', 'sum', 'uniq', 'where'],
]
const valueFilters = [
  ...[
    'abs',
    'at_least',
    'at_most',
    'ceil',
    'default',
    'divided_by',
    'floor',
    'minus',
    'modulo',
    'plus',
    'round',
    'times',
  ],
  'to_integer',
]
const dateFilters = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string']

/** The cost of one use of a filter or an operator, besides what it processes. */
const useCost = 4
/** A date is looked up in the time zone tables. */
const dateCost = 1000

/** The filters that a template may use, each counted before it runs. */
export function countedFilters(): Readonly<
  Record<string, Handler | { readonly raw: true; readonly handler: Handler }>
> {
  return {
    ...counted(textFilters, (budget, given) => budget.useWhole(given)),
    ...counted(searchFilters, useSearch),
    ...counted(listFilters, (budget, [list, ...args]) => {
      budget.use(sizeOf(list))
      budget.useWhole(args)
    }),
    ...counted(valueFilters, (budget, [, ...args]) => budget.useWhole(args)),
    ...counted(dateFilters, (budget, given) => {
      budget.use(dateCost)
      budget.useWhole(given)
    }),
    json(value) {
      budgetOf(this.context).useWhole(value)
      return JSON.stringify(value)
    },
    raw: {
      raw: true,
      handler(value) {
        return budgetOf(this.context).textOf(value)
      },
    },
  }
}

function counted(names: readonly string[], count: (budget: RenderBudget, given: readonly unknown[]) => void) {
  return Object.fromEntries(
    names.map(name => {
      const handler = filters[name] as Handler
      const bounded: Handler = function (value, ...args) {
        const budget = budgetOf(this.context)
        budget.use(useCost)
        count(budget, [value, ...args])
        return handler.call(this, value, ...args)
      }
      return [name, bounded]
    }),
  )
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 1
}

/** The worst case of a search compares the sought text again at many positions. */
function useSearch(budget: RenderBudget, given: readonly unknown[]): void {
  const [text, sought] = given
  budget.useWhole(given)
  budget.use((sizeOf(text) * sizeOf(sought)) / 256)
}

/** The operators of conditions, each counted before it runs. */
export function countedOperators(): Operators {
  return Object.fromEntries(
    Object.entries(defaultOperators).map(([name, operator]) => {
      const bounded = (...given: readonly unknown[]) => {
        const budget = budgetOf(given.at(-1) as Context)
        budget.use(useCost)
        if (name === 'contains') useSearch(budget, given.slice(0, -1))
        else if (!['and', 'or', 'not'].includes(name)) budget.useWhole(given.slice(0, -1))
        return (operator as (...given: readonly unknown[]) => ReturnType<typeof operator>)(...given)
      }
      return [name, bounded]
    }),
  )
}
