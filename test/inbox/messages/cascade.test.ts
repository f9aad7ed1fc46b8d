import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { sanitizeHtml } from '../../../src/inbox/sanitize-html/sanitize-html.ts'
import { startBrowser } from '../../harness/browser.ts'

/** Random style sheets have the same effect in a browser before and after sanitizing. */
let browser: Browser
let page: Page

beforeAll(async () => {
  browser = await startBrowser()
  page = await browser.newPage()
}, 60_000)
afterAll(() => browser?.close(), 60_000)

/** Numbers below `limit` that are the same in each run. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed
  return limit => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

type Random = ReturnType<typeof randomNumbers>

const pick = <T>(random: Random, values: readonly [T, ...T[]]): T => values[random(values.length)] ?? values[0]
const many = (random: Random, most: number, one: () => string) => Array.from({ length: 1 + random(most) }, one)

const simple = [
  'b',
  'i',
  'p',
  'div',
  '.x',
  '.y',
  '.z',
  '#k',
  '*',
  '[title]',
  '[title="t u"]',
  '[title~=u]',
  '.x.y',
] as const
const pseudo = [
  ':first-child',
  ':last-child',
  ':nth-child(2n+1)',
  ':nth-last-child(-n+2)',
  ':first-of-type',
  ':nth-of-type(even)',
  ':only-child',
  ':not(.x)',
  ':not(p > *)',
  ':is(.y, #k)',
  ':where(.z, p)',
] as const

function compound(random: Random): string {
  const base = pick(random, simple)
  return random(4) === 0 ? `${base}${pick(random, pseudo)}` : base
}

const selector = (random: Random) =>
  many(random, 3, () => compound(random)).join(pick(random, [' ', ' ', ' > ', ' + ', ' ~ ']))

const colors = ['red', '#00ff00', 'rgb(1, 2, 3)', 'hsl(9deg 50% 50%)'] as const

function declaration(random: Random): string {
  const length = `${random(9)}px`
  const text = pick(random, [
    `color:${pick(random, colors)}`,
    `background:${pick(random, colors)}`,
    `background-color:${pick(random, colors)}`,
    `padding:${length}`,
    `padding-left:${length}`,
    `margin:${length} ${random(9)}px`,
    `margin-top:${length}`,
    `border:${length} solid ${pick(random, colors)}`,
    `border-left:${length} dashed ${pick(random, colors)}`,
    `border-color:${pick(random, colors)}`,
    `border-top-width:${length}`,
    `font:italic ${10 + random(9)}px/1.5 serif`,
    `font-size:${10 + random(9)}px`,
    `font-weight:${pick(random, ['bold', 'normal', 'nonsense'])}`,
    `line-height:${20 + random(9)}px`,
    `color:nonsense(${length})`,
  ])
  return random(5) === 0 ? `${text}!important` : text
}

const block = (random: Random) => `{${many(random, 3, () => declaration(random)).join(';')}}`
const rule = (random: Random) => `${many(random, 2, () => selector(random)).join(',')}${block(random)}`

/** Rules without and with media queries, of which some hold at each width. */
function styleSheet(random: Random): string {
  return many(random, 10, () =>
    random(3) === 0
      ? `@media ${pick(random, ['(max-width:500px)', 'screen and (min-width:501px)', 'print', 'screen'])}{${many(random, 3, () => rule(random)).join('')}}`
      : rule(random),
  ).join('\n')
}

function element(random: Random, depth: number): string {
  const tag = depth === 0 ? 'div' : pick(random, ['b', 'i', 'span'])
  const attributes = [
    random(2) === 0 ? ` class="${many(random, 2, () => pick(random, ['x', 'y', 'z'])).join(' ')}"` : '',
    random(8) === 0 ? ' id="k"' : '',
    random(4) === 0 ? ' title="t u"' : '',
    random(4) === 0 ? ` style="${many(random, 2, () => declaration(random)).join(';')}"` : '',
  ]
  const inner = depth < 3 ? many(random, 3, () => element(random, depth + 1)).join('') : 'x'
  return `<${tag}${attributes.join('')}>${inner}</${tag}>`
}

/** The computed styles of the elements below `#message`, in a frame of a width. */
const computedStyles = `async ([html, width]) => {
  const frame = Object.assign(document.createElement('iframe'), { srcdoc: html })
  frame.style.width = width + 'px'
  await new Promise(resolve => { frame.onload = resolve; document.body.append(frame) })
  const elements = [...frame.contentDocument.querySelectorAll('.message, .message *, [title=message], [title=message] *')]
  const properties = [
    'color', 'background-color', 'padding-left', 'padding-top', 'margin-top', 'margin-left', 'border-left-width',
    'border-left-color', 'border-left-style', 'border-top-width', 'border-top-color', 'font-size', 'font-weight', 'font-style', 'line-height',
  ]
  const styles = elements.map(element => {
    const style = frame.contentWindow.getComputedStyle(element)
    return element.tagName + ' ' + properties.map(property => style.getPropertyValue(property)).join('; ')
  })
  frame.remove()
  return styles
}`

function stylesAt(width: number, html: string): Promise<readonly string[]> {
  return page.evaluate(`(${computedStyles})(${JSON.stringify([`<!doctype html>${html}`, width])})`)
}

test('each element looks the same at both widths', async () => {
  let elements = 0
  for (let seed = 1; seed <= 150; seed++) {
    const random = randomNumbers(seed)
    const css = styleSheet(random)
    const message = `<div title="message">${element(random, 0)}${element(random, 0)}</div>`
    const html = `<style>${css}</style>${message}`
    const sanitized = sanitizeHtml(html, 'block') ?? ''
    for (const width of [800, 400]) {
      const before = await stylesAt(width, html)
      elements += before.length
      expect({ seed, css, styles: await stylesAt(width, sanitized) }).toEqual({ seed, css, styles: before })
    }
  }
  expect(elements).toBeGreaterThan(5000)
}, 120_000)
