import { words } from './words.ts'

const sides = words('top right bottom left')
const lineParts = words('width style color')
const joined = (before: string, parts: readonly string[]) => parts.map(part => `${before}-${part}`)

/** The properties that each shorthand sets, as far as they are kept. */
const shorthands = new Map<string, readonly string[]>([
  ['background', joined('background', words('attachment clip color image origin position-x position-y repeat size'))],
  ['background-position', joined('background', words('position-x position-y'))],
  ['border', sides.flatMap(side => joined(`border-${side}`, lineParts))],
  ...sides.map(side => [`border-${side}`, joined(`border-${side}`, lineParts)] as const),
  ...lineParts.map(part => [`border-${part}`, sides.map(side => `border-${side}-${part}`)] as const),
  ['border-radius', words('top-left top-right bottom-left bottom-right').map(corner => `border-${corner}-radius`)],
  ['column-rule', joined('column-rule', lineParts)],
  ['columns', words('column-count column-width')],
  ['flex', words('flex-grow flex-shrink flex-basis')],
  ['flex-flow', words('flex-direction flex-wrap')],
  ['font', words('font-family font-size font-stretch font-style font-variant font-weight line-height')],
  ['gap', words('row-gap column-gap')],
  ['list-style', joined('list-style', words('image position type'))],
  ['margin', joined('margin', sides)],
  ['overflow', words('overflow-x overflow-y')],
  ['padding', joined('padding', sides)],
  ['text-decoration', joined('text-decoration', words('color line style thickness'))],
])

/** Whether a declaration of `property` sets all that one of `other` sets. */
export function covers(property: string, other: string): boolean {
  if (property === other) return true
  const longhands = shorthands.get(property)
  return longhands !== undefined && (shorthands.get(other) ?? [other]).every(longhand => longhands.includes(longhand))
}

/** Whether both set something. */
export function overlap(property: string, other: string): boolean {
  if (property === other) return true
  const longhands = shorthands.get(property)
  if (longhands === undefined) return shorthands.get(other)?.includes(property) ?? false
  return (shorthands.get(other) ?? [other]).some(longhand => longhands.includes(longhand))
}
