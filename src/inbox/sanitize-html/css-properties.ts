import { words } from './words.ts'

/** What the value of a property may contain besides keywords, colours, and numbers from zero up. */
export interface PropertyPolicy {
  readonly functions?: 'sizes' | 'gradients'
  /** Remote images, where they are allowed. */
  readonly images?: true
  /** Names of fonts, or text. */
  readonly strings?: 'names' | 'text'
  /** Which numbers below zero. Others could move a part of the message out of its place. */
  readonly negative?: 'any' | 'small'
  /** Lengths only as long as a letter or two, so that a shadow cannot cover the page around it. */
  readonly short?: true
}

// No position, z-index, transform, filter, pointer-events or animation, with which an element would leave its place; no
// property that only loads something; no custom properties, which bring values past this list.
const policies: readonly (readonly [properties: string, policy: PropertyPolicy])[] = [
  [
    'align-content align-items align-self aspect-ratio background-attachment background-clip background-color ' +
      'background-origin background-repeat background-size border border-bottom border-bottom-color ' +
      'border-bottom-left-radius border-bottom-right-radius border-bottom-style border-bottom-width border-collapse ' +
      'border-color border-left border-left-color border-left-style border-left-width border-radius border-right ' +
      'border-right-color border-right-style border-right-width border-spacing border-style border-top border-top-color ' +
      'border-top-left-radius border-top-right-radius border-top-style border-top-width border-width box-sizing ' +
      'caption-side clear color column-count column-gap column-rule column-rule-color column-rule-style ' +
      'column-rule-width column-width columns cursor direction display empty-cells flex flex-basis flex-direction ' +
      'flex-flow flex-grow flex-shrink flex-wrap float font-size font-stretch font-style font-variant font-weight gap ' +
      'hyphens justify-content line-break line-height list-style-position object-fit object-position opacity order ' +
      'overflow overflow-wrap overflow-x overflow-y padding padding-bottom padding-left padding-right ' +
      'padding-top row-gap table-layout tab-size ' +
      'text-align text-align-last text-decoration text-decoration-color text-decoration-line text-decoration-style ' +
      'text-decoration-thickness text-indent text-overflow text-transform text-underline-offset unicode-bidi visibility ' +
      'white-space word-break word-wrap',
    {},
  ],
  ['margin margin-bottom margin-left margin-right margin-top', { negative: 'any' }],
  ['height max-height max-width min-height min-width width', { functions: 'sizes' }],
  ['background', { functions: 'gradients', images: true, negative: 'any' }],
  ['background-image', { functions: 'gradients', images: true }],
  ['background-position background-position-x background-position-y', { negative: 'any' }],
  ['list-style list-style-image', { images: true }],
  ['list-style-type', { strings: 'text' }],
  ['font font-family', { strings: 'names' }],
  ['letter-spacing vertical-align word-spacing', { negative: 'small' }],
  ['box-shadow text-shadow', { negative: 'small', short: true }],
]

const policyOf = new Map(
  policies.flatMap(([properties, policy]) => words(properties).map(property => [property, policy])),
)

/** Null for a property that is not kept. */
export function policyOfProperty(property: string): PropertyPolicy | null {
  return policyOf.get(property) ?? null
}

/** The text that a `::before` or `::after` shows; nothing else may set it. */
export const contentPolicy: PropertyPolicy = { strings: 'text' }
