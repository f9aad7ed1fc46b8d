import { expect, test } from 'bun:test'
import { sanitizeHtml, sanitizeQuotedHtml } from './sanitize-html.ts'

const shown = (html: string) => sanitizeHtml(html, 'block')

test('keeps the markup of ordinary mail', () => {
  const html = '<h1>Hi</h1><p style="color:red">a <b>b</b></p><table><tr><td colspan="2">x</td></tr></table>'
  expect(shown(html)).toBe(html)
})

const harmful: readonly string[] = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="jav&#x09;ascript:alert(1)">x</a>',
  '<svg><script>alert(1)</script></svg>',
  '<math><mi xlink:href="data:x,<script>alert(1)</script>"></mi></math>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<style>@import "http://t.example/x"</style>',
  '<p style="background:url(http://t.example/x)">x</p>',
  '<p style="background-color:red;width:expression(alert(1))">x</p>',
  '<p style="width:u\\72l(http://t.example/x)">x</p>',
  '<form action="http://t.example"><input name=a></form>',
  '<meta http-equiv="refresh" content="0;url=http://t.example">',
  '<base href="http://t.example/">',
  '<img src="http://t.example/pixel.gif">',
  '<img src="//t.example/pixel.gif">',
  '<img srcset="http://t.example/a 1x" src="cid:a">',
  '<table background="http://t.example/x"></table>',
  '<video poster="http://t.example/x" src="http://t.example/y"></video>',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<link rel=stylesheet href="http://t.example/x">',
  '<p style="color:red;background:red\nurl(http://t.example/x)">x</p>',
  '<img src="/\\t.example/x">',
  '<img src="\\\\t.example\\x">',
  '<img src="https:/t.example/x">',
  '<img src="&#1;http://t.example/x">',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<a href="vbscript:alert(1)//script">x</a>',
  '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
  '<button formaction="javascript:alert(1)">x</button>',
  '<object data="http://t.example/x"></object><embed src="http://t.example/x">',
  '<img src="cid:a" onload="alert(1)" id="x" class="y">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
]

for (const html of harmful)
  test(`neutralises ${html}`, () => {
    expect(shown(html)).not.toMatch(
      /script|onerror|onload|t\.example|expression|url|<form|<meta|<base|<svg|<math|<iframe/i,
    )
  })

test('resolves nothing against the page that shows it', () => {
  const relative =
    '<img src="/v1/inbox" /><img src="a.png" /><a href="/logout">x</a><a href="logout">x</a><a href="?x">x</a>'
  for (const remote of ['block', 'allow'] as const) expect(sanitizeHtml(relative, remote)).not.toMatch(/href|src|<img/)
})

test('keeps ordinary styles, and no value that reaches beyond its element', () => {
  const allowed = [
    'font-family:"Segoe UI", -apple-system, \'Noto Sans\', 微软雅黑, sans-serif',
    'font:italic bold 12px/1.5 Arial, serif',
    'color:#ff0000 !important',
    'background-color:rgba(0, 0, 0, 0.5)',
    'color:hsl(120deg 100% 50% / 50%)',
    'border:1px solid rgb(1,2,3)',
    'display:inline-block',
    'margin:0 auto',
    'width:100%',
  ]
  for (const style of allowed) {
    const html = `<p style="${style.replaceAll('"', '&quot;')}">x</p>`
    expect(shown(html)?.replaceAll(' ', '')).toBe(html.replaceAll('&quot;', "'").replaceAll(' ', ''))
  }
  const dropped = [
    'text-indent:-9999px',
    'margin-left:calc(0px - 100px)',
    'width:max(100px, 1e9px)',
    'color:var(--x)',
    'width:attr(x)',
    'background-color:src("http://t.example/x")',
    'font-family:"a\\"b"',
  ]
  for (const style of dropped) expect(shown(`<p style='${style}'>x</p>`)).toBe('<p>x</p>')
})

test('clips what an element with a negative margin would cover', () => {
  for (const style of ['margin-top:-100px', 'margin:0 0 0 -.5em'])
    for (const html of [`<p style="${style}">x</p>`, `<style>p{${style}}</style><p>x</p>`])
      expect(shown(html)).toBe(`<div style="overflow:auto"><p style="${style}">x</p></div>`)
  const onPhones = shown('<style>@media (max-width:480px){p{margin-top:-100px}}</style><p>x</p>')
  expect(onPhones).toMatch(/<div style="overflow:auto"><p class="[\w-]+">x<\/p><\/div>$/)
})

test('quotes inline images only where they are attached', () => {
  const html = '<img src="cid:a" /><img src=" CID:b" /><img src="cid:c" /><img src="http://t.example/x" />'
  expect(sanitizeQuotedHtml(html, 'a c')).toBe('<img src="cid:a" /><img src="cid:c" />')
  expect(sanitizeQuotedHtml(html, '')).toBe('')
})

test('removes NUL before it parses', () => {
  expect(shown('a\0<scr\0ipt>x</script><b\0>c</b>')).toBe('a<b>c</b>')
})

test('lets nothing cover the page around it', () => {
  const html = '<div style="position:fixed;top:0;z-index:9;color:red" class="modal" id="app">x</div>'
  expect(shown(html)).toBe('<div style="color:red">x</div>')
})

test('keeps remote images only on request', () => {
  const html = '<img src="https://t.example/a.png" alt="a" />'
  expect(sanitizeHtml(html, 'allow')).toBe(html)
  expect(shown(html)).not.toContain('t.example')
})

test('keeps inline images, and opens links in a new tab without a referrer', () => {
  expect(shown('<img src="cid:a@b" /><a href="https://x.test/">x</a>')).toBe(
    '<img src="cid:a@b" /><a href="https://x.test/" rel="noopener noreferrer nofollow" target="_blank">x</a>',
  )
})

/** Milliseconds of this process, as the machine may be busy with other things. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test('stays quick on deep and large input', () => {
  const spent = cpuMs(() => {
    expect(shown('<div>'.repeat(50_000))).toBeString()
    expect(shown('x'.repeat(3 * 1024 * 1024))).toBeNull()
    expect(shown('<noscript></p>'.repeat(100_000))).toBeNull()
    expect(shown('<a href="tel:1"></a>'.repeat(60_000))).toBeNull()
  })
  expect(spent).toBeLessThan(5000)
})

const paragraphs = '<p class="a">x</p>'.repeat(10_000)
const numbered = (count: number, part: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => part(i)).join('')

const hostileStyles: Readonly<Record<string, string>> = {
  'a megabyte of selectors': `<style>${'.a,'.repeat(350_000)}b{color:red}</style>x`,
  'as many selectors as may be': `<style>${'.a,'.repeat(7999)}b{color:red}</style>${paragraphs}`,
  'deeply nested :is()': `<style>${':is('.repeat(200_000)}b</style>x`,
  ':is() within :is()': `<style>${`${':is(a,'.repeat(20)}b${')'.repeat(20)}{color:red}`.repeat(1000)}</style>${paragraphs}`,
  '100,000 rules and 10,000 elements': `<style>${'p{color:red}'.repeat(100_000)}</style>${paragraphs}`,
  '3,999 rules and 10,000 elements': `<style>${'p{color:red}'.repeat(3999)}</style>${paragraphs}`,
  '3,999 media queries and 10,000 elements': `<style>${'@media print{p{color:red}}'.repeat(3999)}</style>${paragraphs}`,
  'descendants of descendants': `<style>${`${'b '.repeat(12)}i b{color:red}`.repeat(1000)}</style>${'<b>'.repeat(500)}x`,
  'siblings of siblings': `<style>p ~ p ~ p ~ p ~ p ~ i{color:red}</style>${paragraphs}<b>x`,
  'counting of siblings': `<style>p:nth-last-of-type(3n+1){color:red}</style>${paragraphs}`,
  'open blocks': `<style>${'a{'.repeat(100_000)}</style>x`,
  'blocks closed by other brackets': `<style>${'a{)b{]'.repeat(40_000)}</style>x`,
  'open strings': `<style>${'a{b:"\n'.repeat(35_000)}</style>x`,
  'open comments': `<style>${'/*'.repeat(120_000)}</style>x`,
  'broken declarations': `<style>a{${'b:c '.repeat(60_000)}}</style>x`,
  'values that are hard to check': `<style>${numbered(5000, i => `b{background:red,50%,#fff red normal,${i}px}`)}</style>x`,
  'a class for each rule': `<style>${numbered(3999, i => `.a${i}{color:red}`)}</style><p class="${numbered(3999, i => `a${i} `)}">x`,
  'long attributes': `<style>${'[x*=a]{color:red}'.repeat(3000)}</style>${`<p x="${'b'.repeat(1000)}">`.repeat(1500)}x`,
  'many style elements': `${'<style>a{color:red}</style>'.repeat(40_000)}x`,
  'different style attributes': numbered(50_000, i => `<p style="width:${i}px">`),
  'styles that grow': `<style>*{font-family:${'a'.repeat(400)};padding:1px}</style>${paragraphs}`,
}

test.each(Object.keys(hostileStyles))('shows a message with %s soon', name => {
  let html: string | null = null
  expect(cpuMs(() => (html = shown(hostileStyles[name] ?? '')))).toBeLessThan(4000)
  expect(html).toMatch(/x|<p/)
})
