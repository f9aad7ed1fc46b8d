import { expect, test } from 'bun:test'
import { needsHtmlText, searchableBody, searchableHtmlText } from './searchable-text.ts'

const sentence = 'The offer of this week is a bicycle. '

const htmlTexts: Readonly<Record<string, string>> = {
  nothing: '',
  'what the text says': `<html><body><p title="a > b">${sentence}</p></body></html>`,
  'hidden text': `<style>${sentence.repeat(9)}</style><p>${sentence}</p>`,
  'a comment': `<!-- ${sentence.repeat(9)} --><p>${sentence}</p>`,
  'signs that are no tags': '< '.repeat(300),
  'a tag that does not end': `<p>${sentence}<a href="${'x'.repeat(500)}`,
  entities: `<p>${'&eacute;'.repeat(30)}</p>`,
  'much more': `<p>${sentence.repeat(20)}</p>`,
}

test.each(Object.entries(htmlTexts))('HTML with %s is converted wherever its text would be used', (_, html) => {
  for (const text of [null, '', 'See the HTML.', sentence, sentence.repeat(5)]) {
    const body = searchableBody(text, searchableHtmlText(html))
    expect(searchableBody(text, needsHtmlText(text, html) ? searchableHtmlText(html) : '')).toBe(body)
  }
})

test('HTML whose text is about that of the plain text is not converted, however long its tags are', () => {
  const html = `<p style="${'x'.repeat(1000)}">${sentence}</p>`
  expect(needsHtmlText(sentence, html)).toBe(false)
  expect(needsHtmlText('See the HTML.', html)).toBe(true)
  expect(needsHtmlText(null, '')).toBe(true)
})

test('a megabyte of markup is counted in milliseconds, whatever it holds', () => {
  for (const piece of ['<', '<a', '<a>', '< >', '<!--', 'x<p title=">">']) {
    const html = piece.repeat(1_000_000 / piece.length)
    const started = performance.now()
    needsHtmlText('text', html)
    expect(performance.now() - started).toBeLessThan(1000)
  }
})
