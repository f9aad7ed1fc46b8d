import { describe, expect, test } from 'bun:test'
import { htmlToText } from './html-to-text.ts'

test('decodes named and numeric character references', () => {
  expect(htmlToText('<p>Gr&uuml;&szlig;e aus M&uuml;nchen</p>')).toBe('Grüße aus München')
  expect(htmlToText('&euro;5 &#x1F600; &#252; &amp;amp; &copy2026 &bogus; &')).toBe('€5 😀 ü &amp; ©2026 &bogus; &')
  expect(htmlToText('a&#0;b&#xD800;c')).toBe('a\ufffdb\ufffdc')
})

test('shows nothing of head, title, scripts, styles, comments and attributes', () => {
  const html = `<html><head><title>T</title><meta name="x" content="y"><style>p{a:b}</style></head>
    <body><!-- a > b --><script>if (a < b) x()</script><p class="a>b" title='c'>seen</p><template>no</template></body>`
  expect(htmlToText(html)).toBe('seen')
  expect(htmlToText('<head><title>T</title><body>the end tag of head may be absent')).toBe(
    'the end tag of head may be absent',
  )
  expect(htmlToText('seen<!-- unclosed <p>no')).toBe('seen')
  expect(htmlToText('seen<style>unclosed <p>no')).toBe('seen')
})

test('counts each run of white space as one space, or none at the edge of a line', () => {
  for (const run of [' ', '  ', '\t', '\n', '\f', '\r\n', ' \n ', '\t\t'])
    expect(htmlToText(`${run}a${run}b<b>${run}c</b>${run}<i>d</i>e${run}<p>f</p>`)).toBe('a b c de\n\nf')
})

test('keeps inline text together and begins a line for each block', () => {
  expect(htmlToText('un<b>believ</b>able\n  <i>news</i>')).toBe('unbelievable news')
  expect(htmlToText('<div>one</div><div>two<br><br>three</div>four')).toBe('one\ntwo\n\nthree\nfour')
  expect(htmlToText('<h1>Head</h1><p>one</p>\n<p>two</p>')).toBe('Head\n\none\n\ntwo')
  expect(htmlToText('<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>')).toBe('a b\nc d')
  expect(htmlToText('<p>x</p><hr><pre>  a\r\n   b</pre>')).toBe(`x\n\n${'-'.repeat(40)}\n\n  a\n   b`)
})

test('marks list items and quotations', () => {
  expect(htmlToText('<ul><li>one<li>two<ul><li>in</ul></ul><ol><li>a<br>b</li><li>c</li></ol>')).toBe(
    ' * one\n * two\n    * in\n\n 1. a\n    b\n 2. c',
  )
  expect(htmlToText('he wrote:<blockquote><p>a</p><p>b</p><blockquote>c</blockquote></blockquote>yes')).toBe(
    'he wrote:\n\n> a\n>\n> b\n>\n> > c\n\nyes',
  )
})

test('writes the targets of links where they are asked for', () => {
  const html = '<a href="https://a.example/?b=1&amp;c=2">page</a> <a href=https://b.example>https://b.example</a> '
  const more = '<a HREF="mailto:ann@c.example">mail</a> <a href="#top">top</a> <a href="https://d.example"><img></a>'
  expect(htmlToText(html + more)).toBe('page https://b.example mail top')
  expect(htmlToText(html + more, { withLinks: true })).toBe(
    'page <https://a.example/?b=1&c=2> https://b.example mail <ann@c.example> top <https://d.example>',
  )
})

test('stops soon after the characters that are asked for', () => {
  expect(htmlToText('<p>word</p>'.repeat(100_000), { maxCharacters: 1000 }).length).toBeLessThan(20_000)
})

describe('takes time that is linear in the length of 2 MiB of', () => {
  const fill = (piece: string) => piece.repeat(Math.floor((2 * 1024 * 1024) / piece.length))
  const hostile: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      ['<', '</', '<!--', '<![CDATA[', '&', '&am', '&amp;', '<div>', '<div', '</p>', '<a b="', '<a href=x>a', '<a\n']
        .concat('<ul><li>', '<ul></ol>', '<blockquote>x', '<style>', '<title>', '<template></head>', '<pre>\n', '<br>')
        .map(piece => [piece, fill(piece)]),
    ),
    'elements 5,000 deep, each closed': `${'<div>'.repeat(5000)}deep${'</div>'.repeat(5000)}`,
    'end tags that match nothing in elements 50,000 deep': `${'<div>'.repeat(50_000)}${'</x>'.repeat(200_000)}`,
    'lists and quotations that are closed in the wrong order': `${'<ul><blockquote>'.repeat(50_000)}${'</ul>'.repeat(200_000)}`,
    'hidden elements that are closed in the wrong order': `${'<noscript>'.repeat(50_000)}${'</head>'.repeat(200_000)}`,
    'lines in a quotation': `${'<blockquote>'.repeat(8)}${'a<br>'.repeat(300_000)}`,
  }
  for (const [name, html] of Object.entries(hostile))
    test(name.trim(), () => {
      const before = process.cpuUsage().user
      htmlToText(html, { withLinks: true })
      const cpuMs = (process.cpuUsage().user - before) / 1000
      expect(cpuMs).toBeLessThan(3000)
    })
})
