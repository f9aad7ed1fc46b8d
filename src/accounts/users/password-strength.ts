import { refuse } from '../../base/refusal.ts'

const minPasswordLength = 12
export const maxPasswordLength = 256

/** A password that is found with so many guesses is among the most used, or made from them. */
const tooFewGuesses = 1_000_000
/** Longer ones are judged by their beginning. */
const judgedLength = 64

/**
 * Refuses a password that guessers try first: one of the most used, a keyboard row, a date, a repetition, or the person's own
 * email or name.
 * @throws Refusal `invalid_request` with the parameter `password`
 */
export async function requireStrongPassword(
  password: string,
  { email, name }: { readonly email: string; readonly name: string },
): Promise<void> {
  const length = [...password].length
  if (length < minPasswordLength) throw weak(`has ${length} characters; it needs at least ${minPasswordLength}`)
  if (length > maxPasswordLength) throw weak(`has ${length} characters; at most ${maxPasswordLength} are kept`)
  const checker = await loadChecker()
  const { guesses } = checker.check(password.slice(0, judgedLength), [email, ...email.split(/[@.]/), name, 'mailroom'])
  if (guesses < tooFewGuesses)
    throw weak('is one that guessers try early; take several words that do not belong together')
}

function weak(reason: string) {
  return refuse('invalid_request', { message: `The password ${reason}.`, param: 'password', reason: 'weak_password' })
}

/** Loaded when somebody chooses a password: its word lists take 40 MB, and a process that nobody joins needs none. */
async function loadChecker() {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
}
