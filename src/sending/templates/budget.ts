/** What a rendering may use, counted so that the same template and variables always have the same result. */
export interface RenderAllowance {
  /** Pieces of text, outputs and tags that are rendered; each iteration of a loop counts its own. */
  readonly maxSteps: number
  /** Characters and list items that filters, comparisons and outputs process. */
  readonly maxWork: number
  /** A last resort, for what the counts do not see. */
  readonly maxMs: number
}

/** The template uses more than it may. */
export class BudgetExceededError extends Error {
  override readonly name = 'BudgetExceededError'
}

/** What is said of a template whose rendering takes too long, wherever that is noticed. */
export const tooSlow = 'it takes longer than a template may'

const clockEverySteps = 16

/**
 * Counts what one rendering uses. It replaces liquidjs's own limits (`memoryLimit`, `renderLimit`), which do not count
 * output, what expressions read and what filters are given: GHSA-8xx9-69p8-7jp3, GHSA-hh27-hf48-9f5q.
 */
export class RenderBudget {
  private steps = 0
  private work = 0
  private readonly endsAt: number
  private readonly allowance: RenderAllowance

  constructor(allowance: RenderAllowance) {
    this.allowance = allowance
    this.endsAt = performance.now() + allowance.maxMs
  }

  /** Counts characters or items; liquidjs calls it too. @throws BudgetExceededError */
  use(count: number): void {
    if (!(count > 0)) return
    this.work += count
    if (this.work > this.allowance.maxWork)
      throw new BudgetExceededError('it processes more text and lists than a template may')
  }

  /** Counts one step; liquidjs calls it before everything that it renders. @throws BudgetExceededError */
  check(): void {
    if (++this.steps > this.allowance.maxSteps)
      throw new BudgetExceededError('its loops have more iterations than a template may')
    if (this.steps % clockEverySteps === 0 && performance.now() > this.endsAt) throw new BudgetExceededError(tooSlow)
  }

  /** The value as liquid outputs it (lists without separators), counted before it is concatenated. */
  textOf(value: unknown): string {
    if (typeof value === 'string') {
      this.use(value.length)
      return value
    }
    this.use(1)
    if (value === null || value === undefined) return ''
    if (Array.isArray(value)) return value.map(item => this.textOf(item)).join('')
    return String(value)
  }

  /** Counts a value with all that it contains. */
  useWhole(value: unknown): void {
    this.use(typeof value === 'string' ? value.length : 1)
    if (typeof value !== 'object' || value === null) return
    for (const item of Array.isArray(value) ? value : Object.values(value)) this.useWhole(item)
  }
}
