import { expect, test } from 'bun:test'
import { comesFromBrowser } from './browser.ts'

const isBrowser = (accept?: string) =>
  comesFromBrowser(new Request('http://x.test/', { headers: accept === undefined ? {} : { accept } }))

test('a browser asks for HTML', () => {
  for (const accept of [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'text/html, application/json',
    'Text/HTML;charset=utf-8;Q=0.5',
    'application/json;q=0.1, text/html;q=0.2',
  ])
    expect([accept, isBrowser(accept)]).toEqual([accept, true])
})

test('a program does not', () => {
  for (const accept of [
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'application/json, text/plain, */*',
    'application/json, text/html;q=0.9',
    'text/html;q=0',
    'text/html;q=x',
    'text/htmlx',
  ])
    expect([accept, isBrowser(accept)]).toEqual([accept, false])
})
