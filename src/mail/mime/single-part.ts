import type { Splitter } from './splitter.ts'

const inBody = 2

/**
 * Makes this splitter take the body of a message that is no multipart as it comes: nothing in it is a delimiter, and a
 * message of line ends alone has millions of lines to look at.
 */
export function skipLinesOfSinglePart(splitter: Splitter): void {
  const { _transform } = splitter
  splitter._transform = (bytes, encoding, done) => {
    if (!isInSinglePart(splitter)) return _transform.call(splitter, bytes, encoding, done)
    const pending = splitter.takePendingLine()
    for (const value of pending ? [pending, bytes] : [bytes])
      splitter.push({ type: 'body', node: splitter.node, value })
    done()
  }
}

function isInSinglePart({ state, node }: Splitter): boolean {
  return state === inBody && !node.parentNode && !node.multipart
}
