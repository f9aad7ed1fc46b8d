/** The styles of a message are longer, or take more work, than any real message's: it is shown without its style sheets. */
export class StyleLimitError extends Error {
  override readonly name = 'StyleLimitError'
}

/** Steps of work that are left. Counted instead of timed, so that the same message always looks the same. */
export class StyleBudget {
  #steps: number

  constructor(steps: number) {
    this.#steps = steps
  }

  /** @throws StyleLimitError when not so many are left */
  spend(steps = 1): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new StyleLimitError('too many steps')
  }
}
