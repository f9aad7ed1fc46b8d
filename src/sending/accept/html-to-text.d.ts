/** What is used of html-to-text 10, which comes without types. */
declare module 'html-to-text' {
  interface Selector {
    readonly selector: string
    readonly format?: string
    readonly options?: Readonly<Record<string, unknown>>
  }
  interface Options {
    readonly wordwrap?: number | false
    readonly limits?: { readonly maxDepth?: number }
    readonly selectors?: readonly Selector[]
  }
  export function compile(options: Options): (html: string) => string
}
