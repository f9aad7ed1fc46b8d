import { expect, test } from 'bun:test'
import { linkedText, withVisibleTargets } from './links.ts'

test('a link says where it leads, whatever its sender says', () => {
  expect(
    withVisibleTargets('<p><a title="Bank" href="https://evil.test/?a=1&amp;b=2" target="_blank">bank.test</a></p>'),
  ).toBe(
    '<p><a href="https://evil.test/?a=1&amp;b=2" target="_blank" title="https://evil.test/?a=1&amp;b=2" data-host="evil.test">bank.test</a></p>',
  )
  expect(withVisibleTargets('<a href="https://аpple.com/">apple</a>')).toContain('data-host="xn--pple-43d.com"')
  expect(withVisibleTargets('<a href="mailto:a@b.test">write</a>')).toBe(
    '<a href="mailto:a@b.test" title="mailto:a@b.test">write</a>',
  )
  expect(withVisibleTargets('<a name="x">here</a><abbr title="y">z</abbr>')).toBe(
    '<a name="x">here</a><abbr title="y">z</abbr>',
  )
})

test('addresses in text become links, without what follows them', () => {
  const linked = (text: string) => Array.from(linkedText(text).matchAll(/href="([^"]*)"/g), ([, href]) => href)
  expect(linked('See https://a.test/x, (http://b.test/y) and https://c.test/z_(1).')).toEqual([
    'https://a.test/x',
    'http://b.test/y',
    'https://c.test/z_(1)',
  ])
  expect(linked('https://a.test/?q=1&r=2"onclick=x')).toEqual(['https://a.test/?q=1&amp;r=2'])
  expect(linked('javascript:alert(1) ftp://x.test http:// https://:0')).toEqual([])
  expect(linkedText('<b>&</b> https://a.test/<i>')).toBe(
    '&lt;b&gt;&amp;&lt;/b&gt; <a href="https://a.test/" title="https://a.test/" target="_blank" rel="noopener noreferrer nofollow">https://a.test/</a>&lt;i&gt;',
  )
})
