import { useSyncExternalStore } from 'react'

/**
 * What a request waits for when the server wants the person first: `sign-in` when the session has ended, `confirmation`
 * when a factor has to be presented again. A dialog (shell/prompts) shows it and answers.
 */
export type Prompt = 'sign-in' | 'confirmation'

let current: {
  readonly prompt: Prompt
  readonly answer: (isDone: boolean) => void
  readonly done: Promise<boolean>
} | null = null
const listeners = new Set<() => void>()

/** Asks the person. Resolves to whether they did it; requests that wait for the same share one dialog. */
export async function promptFor(prompt: Prompt): Promise<boolean> {
  if (current?.prompt === prompt) return current.done
  if (current) {
    await current.done
    return promptFor(prompt)
  }
  const { promise, resolve } = Promise.withResolvers<boolean>()
  current = { prompt, answer: resolve, done: promise }
  notify()
  return promise
}

/** Called by the dialog: done, or given up. */
export function answerPrompt(isDone: boolean): void {
  const answered = current
  current = null
  notify()
  answered?.answer(isDone)
}

/** What is asked of the person now. */
export function usePrompt(): Prompt | null {
  return useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current?.prompt ?? null,
  )
}

function notify(): void {
  for (const listener of listeners) listener()
}
