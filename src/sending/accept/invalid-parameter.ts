import { type Refusal, refuse } from '../../base/refusal.ts'

/** The refusal of a request parameter; `problem` is half a sentence, such as `it contains NUL`. */
export function invalidParameter(param: string, problem: string): Refusal {
  return refuse('invalid_request', { message: `${param}: ${problem}.`, param })
}
