import { LRUCache } from 'lru-cache'
import type { MailauthRecords, MailauthResolve } from './resolver.ts'

/** What DNS answered to one question of a check: records, or the code of an absence. */
interface AnsweredQuestion {
  readonly name: string
  readonly type: string
  readonly answer: MailauthRecords | string
}

interface FinishedCheck<Result> {
  readonly answers: readonly AnsweredQuestion[]
  readonly result: Result
}

/**
 * Evaluates a check whose result depends on nothing but its `input` and what DNS answers; or gives the result of the last check
 * of the same input, if DNS still gives the same answers to each of its questions. They are asked each time: asking, out of the
 * resolver's cache, costs a tenth of evaluating.
 */
export type RepeatedCheck<Result> = (
  input: readonly unknown[],
  resolve: MailauthResolve,
  evaluate: (resolve: MailauthResolve) => Promise<Result>,
) => Promise<Result>

/** Of what is kept of all checks, in characters, about. */
const maxCharacters = 4 * 1024 * 1024
const maxChecks = 1000

export function newRepeatedCheck<Result>(): RepeatedCheck<Result> {
  const finished = new LRUCache<string, FinishedCheck<Result>>({ max: maxChecks, maxSize: maxCharacters })
  return async (input, resolve, evaluate) => {
    const key = JSON.stringify(input)
    const last = finished.get(key)
    if (last && (await hasSameAnswers(last.answers, resolve))) return last.result
    const answers: AnsweredQuestion[] = []
    let isComplete = true
    const result = await evaluate(async (name, type) => {
      try {
        const records = await resolve(name, type)
        // mailauth may sort what it is given.
        answers.push({ name, type, answer: [...records] as MailauthRecords })
        return records
      } catch (error) {
        const code = absenceCode(error)
        if (code === null) isComplete = false
        else answers.push({ name, type, answer: code })
        throw error
      }
    })
    if (isComplete)
      finished.set(key, { answers, result }, { size: key.length + JSON.stringify([answers, result]).length })
    else finished.delete(key)
    return result
  }
}

async function hasSameAnswers(answers: readonly AnsweredQuestion[], resolve: MailauthResolve): Promise<boolean> {
  for (const { name, type, answer } of answers) {
    const now = await resolve(name, type).catch(absenceCode)
    if (now === null || !Bun.deepEquals(now, answer)) return false
  }
  return true
}

/** null: a failure, which says nothing about the name. */
function absenceCode(error: unknown): string | null {
  const { code } = error as { code?: unknown }
  return code === 'ENOTFOUND' || code === 'ENODATA' ? code : null
}
