/** A page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[]
}

/** An item of such a page. */
export type ItemOf<OfPage> = OfPage extends Page<infer Item> ? Item : never

/** What fetches a page, and what the page says of the next one. */
export interface PageSource<OfPage extends Page<unknown>> {
  /** @param more the query parameters of the next page, beside those of the first */
  readonly fetch: (more: object) => Promise<OfPage>
  /** undefined: it is the last. */
  readonly next: (page: NoInfer<OfPage>) => object | undefined
}

/**
 * A list. `await` gives its first page, `for await` all its items, and `pages()` all its pages; each page is fetched when it
 * is needed, and nothing is fetched before.
 */
export class Pages<OfPage extends Page<unknown>> implements PromiseLike<OfPage>, AsyncIterable<ItemOf<OfPage>> {
  private readonly source: PageSource<OfPage>

  constructor(source: PageSource<OfPage>) {
    this.source = source
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page
  then<Result = OfPage, Failure = never>(
    onPage?: ((page: OfPage) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.source.fetch({}).then(onPage, onError)
  }

  /** All pages, the first one included. */
  async *pages(): AsyncGenerator<OfPage, void, undefined> {
    let more: object | undefined = {}
    while (more) {
      const page: OfPage = await this.source.fetch(more)
      yield page
      more = this.source.next(page)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ItemOf<OfPage>, void, undefined> {
    for await (const page of this.pages()) yield* page.data as readonly ItemOf<OfPage>[]
  }
}

/** The next page of a list whose pages carry `next_cursor`. */
export function byCursor({ next_cursor: cursor }: { readonly next_cursor: string | null }): object | undefined {
  return cursor === null ? undefined : { cursor }
}

/** The next page of a list whose pages carry `next_before`. */
export function byTime({ next_before: before }: { readonly next_before: string | null }): object | undefined {
  return before === null ? undefined : { before }
}

/** The next page of a list of received messages. */
export function byMessage({
  next_cursor: last,
}: {
  readonly next_cursor: { readonly received_at: string; readonly id: string } | null
}): object | undefined {
  return last === null ? undefined : { cursor_at: last.received_at, cursor_id: last.id }
}
