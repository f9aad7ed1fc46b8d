import { leadingCharacter, type Token } from './tokenizer.ts'

/** The positions (0-based) of the messages that have a token, a pair of tokens, or a character; ascending. */
export interface KeyPositions {
  /** The token; two, with a space between; or what `characterKey` makes of a character. */
  readonly key: string
  readonly positions: Uint16Array
}

export interface PositionsOptions {
  /** Pairs of tokens that follow each other are given where both are in more messages than this. */
  readonly maxListed: number
  /** A key for the first character of a token of a script without spaces; other than that of any token. */
  readonly characterKey: (character: Token) => string
}

/**
 * The positions of all tokens of some messages: one message a line, its tokens with a space between, at most 65,536 messages.
 * A text of some megabytes has a million tokens; a string for each of them would take most of the memory of the process, so
 * they are numbered where they stand.
 */
export function* keyPositions(text: string, { maxListed, characterKey }: PositionsOptions): Generator<KeyPositions> {
  const tokens = new TokenNumbers(text)
  const lists = new PositionLists()
  const characters = new PositionLists()
  const characterNumbers = new Map<string, number>()
  /** Of each token; -1: it has none. */
  const characterOf: number[] = []
  const numberOfCharacter = (token: number): number => {
    const character = leadingCharacter(tokens.textOf(token))
    if (!character) return -1
    const number = characterNumbers.get(character) ?? characterNumbers.size
    characterNumbers.set(character, number)
    return number
  }
  forEachToken(text, tokens, (token, position) => {
    lists.add(token, position)
    characterOf[token] ??= numberOfCharacter(token)
    const character = characterOf[token] ?? -1
    if (character >= 0) characters.add(character, position)
  })

  const pairs = new PositionLists()
  const pairNumbers = new Map<number, number>()
  let before = -1
  let positionBefore = -1
  forEachToken(text, tokens, (token, position) => {
    const isCommon = lists.count(token) > maxListed
    if (isCommon && before >= 0 && positionBefore === position) {
      const pair = before * maxTokens + token
      const number = pairNumbers.get(pair) ?? pairNumbers.size
      pairNumbers.set(pair, number)
      pairs.add(number, position)
    }
    before = isCommon ? token : -1
    positionBefore = position
  })

  const [ofToken, ofCharacter, ofPair] = [lists.sorted(), characters.sorted(), pairs.sorted()] as const
  for (let token = 0; token < tokens.count; token++) yield { key: tokens.textOf(token), positions: ofToken(token) }
  for (const [character, number] of characterNumbers)
    yield { key: characterKey(character), positions: ofCharacter(number) }
  for (const [pair, number] of pairNumbers) {
    const [first, second] = [Math.floor(pair / maxTokens), pair % maxTokens]
    yield { key: `${tokens.textOf(first)} ${tokens.textOf(second)}`, positions: ofPair(number) }
  }
}

/** More than a text can have, and so few that a pair is a safe integer. */
const maxTokens = 2 ** 26
const [space, newline] = [0x20, 0x0a]

/** Calls `visit` with the number of each token of each message, in order. */
function forEachToken(text: string, tokens: TokenNumbers, visit: (token: number, position: number) => void): void {
  let position = 0
  let start = 0
  let hash = 0
  for (let at = 0; at <= text.length; at++) {
    const unit = at < text.length ? text.charCodeAt(at) : newline
    if (unit !== space && unit !== newline) {
      hash = (Math.imul(hash, 31) + unit) | 0
      continue
    }
    if (at > start) visit(tokens.numberOf(start, at, hash), position)
    if (unit === newline) position++
    start = at + 1
    hash = 0
  }
}

/** Numbers the tokens of a text, the first one 0: a hash table with open addressing. */
class TokenNumbers {
  count = 0
  private readonly text: string
  /** The number of the token in each slot; -1: none. At most half of them have one. */
  private slots = new Int32Array(1 << 16).fill(-1)
  private starts = new Uint32Array(1 << 15)
  private ends = new Uint32Array(1 << 15)
  private hashes = new Int32Array(1 << 15)

  constructor(text: string) {
    this.text = text
  }

  /** @param hash the same for the same token */
  numberOf(start: number, end: number, hash: number): number {
    for (let slot = this.slotOf(hash); ; slot = (slot + 1) & (this.slots.length - 1)) {
      const number = this.slots[slot] ?? -1
      if (number < 0) return this.add(slot, start, end, hash)
      if (this.hashes[number] === hash && this.isAt(number, start, end)) return number
    }
  }

  textOf(number: number): Token {
    return this.text.slice(this.starts[number], this.ends[number])
  }

  private slotOf(hash: number): number {
    return (hash ^ (hash >>> 15)) & (this.slots.length - 1)
  }

  private isAt(number: number, start: number, end: number): boolean {
    const from = this.starts[number] ?? 0
    if ((this.ends[number] ?? 0) - from !== end - start) return false
    for (let i = 0; start + i < end; i++)
      if (this.text.charCodeAt(from + i) !== this.text.charCodeAt(start + i)) return false
    return true
  }

  private add(slot: number, start: number, end: number, hash: number): number {
    const number = this.count++
    this.slots[slot] = number
    this.starts[number] = start
    this.ends[number] = end
    this.hashes[number] = hash
    if (this.count === this.starts.length) this.grow()
    return number
  }

  private grow(): void {
    const size = this.count * 2
    this.starts = grown(this.starts, new Uint32Array(size))
    this.ends = grown(this.ends, new Uint32Array(size))
    this.hashes = grown(this.hashes, new Int32Array(size))
    this.slots = new Int32Array(size * 2).fill(-1)
    for (let number = 0; number < this.count; number++) {
      let slot = this.slotOf(this.hashes[number] ?? 0)
      while ((this.slots[slot] ?? -1) >= 0) slot = (slot + 1) & (this.slots.length - 1)
      this.slots[slot] = number
    }
  }
}

/** Positions of numbered things, which are added in ascending order of the positions. */
class PositionLists {
  private size = 0
  /** In the order in which they were added. */
  private numbers = new Uint32Array(1 << 12)
  private positions = new Uint16Array(1 << 12)
  private readonly counts: number[] = []
  private readonly last: number[] = []

  /** Does nothing where `position` was added to this number last. */
  add(number: number, position: number): void {
    if (this.last[number] === position) return
    this.last[number] = position
    this.counts[number] = this.count(number) + 1
    this.numbers[this.size] = number
    this.positions[this.size] = position
    this.size++
    if (this.size < this.numbers.length) return
    this.numbers = grown(this.numbers, new Uint32Array(this.size * 2))
    this.positions = grown(this.positions, new Uint16Array(this.size * 2))
  }

  count(number: number): number {
    return this.counts[number] ?? 0
  }

  /** Gives the positions of a number. */
  sorted(): (number: number) => Uint16Array {
    const starts = new Uint32Array(this.counts.length + 1)
    for (const [number, count] of this.counts.entries()) starts[number + 1] = (starts[number] ?? 0) + count
    const next = starts.slice()
    const all = new Uint16Array(this.size)
    for (let i = 0; i < this.size; i++) {
      const number = this.numbers[i] ?? 0
      const at = next[number] ?? 0
      all[at] = this.positions[i] ?? 0
      next[number] = at + 1
    }
    return number => all.subarray(starts[number], starts[number + 1])
  }
}

function grown<Values extends Uint16Array | Uint32Array | Int32Array>(values: Values, larger: Values): Values {
  larger.set(values)
  return larger
}
