import { expect, test } from 'bun:test'
import { sanitizeHtml, sanitizeQuotedHtml } from './sanitize-html.ts'

const shown = (html: string) => sanitizeHtml(html, 'block') ?? ''

/** With `c1`, `c2` … for the classes. */
const withShortClasses = (html: string) => html.replace(/m[\da-f]{10}-(\d+)/g, 'c$1')

/** The style attribute of the first `b` element. */
const styleOf = (css: string, body = '<b>x</b>') =>
  /<b style="([^"]*)"/.exec(shown(`<style>${css}</style>${body}`))?.[1]

/** The style element. */
const sheetOf = (css: string, body = '<b>x</b>') =>
  /^<style>(.*?)<\/style>/s.exec(withShortClasses(shown(`<style>${css}</style>${body}`)))?.[1]

test('puts what holds on every screen into style attributes', () => {
  expect(
    shown('<style>p.a, #b { color: red } p b { margin: 0 }</style><p class="a"><b>x</b></p><div id="b">y</div>'),
  ).toBe('<p style="color:red"><b style="margin:0">x</b></p><div style="color:red">y</div>')
})

test('follows the cascade: importance, the style attribute, specificity, order', () => {
  expect(styleOf('b{color:red} b{color:blue}')).toBe('color:blue')
  expect(styleOf('.x{color:red} b{color:blue}', '<b class="x">x</b>')).toBe('color:red')
  expect(styleOf('#i{color:red} .x.x.x{color:blue}', '<b id="i" class="x">x</b>')).toBe('color:red')
  expect(styleOf('b{color:red!important} .x{color:blue}', '<b class="x">x</b>')).toBe('color:red')
  expect(styleOf('b{color:red}', '<b style="color:blue">x</b>')).toBe('color:blue')
  expect(styleOf('b{color:red!important}', '<b style="color:blue">x</b>')).toBe('color:red')
  expect(styleOf('b{color:red!important}', '<b style="color:blue!important">x</b>')).toBe('color:blue !important')
  expect(styleOf('b{padding-left:1px} .x{padding:2px}', '<b class="x">x</b>')).toBe('padding:2px')
  expect(styleOf('b{padding:2px} .x{padding-left:1px}', '<b class="x">x</b>')).toBe('padding:2px;padding-left:1px')
  expect(styleOf(':where(#i){color:red} b{color:blue}', '<b id="i">x</b>')).toBe('color:blue')
  expect(styleOf(':is(#i,u){color:red} b.x{color:blue}', '<b id="i" class="x">x</b>')).toBe('color:red')
  expect(styleOf('b{color:red;color:nonsense;color:12px}')).toBe('color:red')
})

test.each([
  ['p > b', true],
  ['div b', true],
  ['div > b', false],
  ['i + b', true],
  ['u ~ b', true],
  ['u + b', false],
  ['html body b', true],
  ['body > div b', true],
  ['B.x', true],
  ['.X', false],
  ['[data-a]', true],
  ['[data-a="q r"]', true],
  ['[data-a~=r]', true],
  ['[data-a^=q]', true],
  ['[data-a$=r]', true],
  ['[data-a*=" "]', true],
  ['[data-a="Q R" i]', true],
  ['[data-a=Q]', false],
  ['b:last-child', true],
  ['b:first-child', false],
  ['b:nth-child(3)', true],
  ['b:nth-child(2n)', false],
  ['b:nth-last-child(odd)', true],
  ['b:first-of-type', true],
  ['b:not(.y)', true],
  ['b:not(p > .x)', false],
  [':is(i, b.x)', true],
  ['b:visited', false],
  ['b:checked', false],
  ['svg|b', false],
  ['\\62', true],
  ['.\\78', true],
  ['b, b:no-such-thing', false],
  ['b, b::no-such-thing', false],
  ['b, ::-webkit-x', true],
])('the selector %p matches as in a browser', (selector, matches) => {
  const body = '<div><p><u>u</u><i>i</i><b class="x" data-a="q r">x</b></p></div>'
  expect(styleOf(`${selector}{color:red}`, body) === 'color:red').toBe(matches)
})

test('knows the rows of a table as browsers do, in a tbody', () => {
  const table = '<table><tr><td><b>x</b></td></tr></table>'
  expect(styleOf('table > tbody > tr b{color:red}', table)).toBe('color:red')
  expect(styleOf('table > tr b{color:red}', table)).toBeUndefined()
})

test('puts an element around the message for what its html and body look like', () => {
  expect(shown('<html dir="rtl" lang="he"><body style="background:#eee"><p>x</p></body></html>')).toBe(
    '<div dir="rtl" lang="he"><div style="background:#eee"><p>x</p></div></div>',
  )
  expect(shown('<style>body{margin:0;color:red}</style>x')).toBe(
    '<div style="display:flow-root;margin:0;color:red">x</div>',
  )
  expect(
    shown('<body bgcolor="eeeeee" text="#222" link="#0000ff" topmargin="0"><a href="https://x.test/">x</a></body>'),
  ).toBe(
    '<div style="background-color:#eeeeee;color:#222;margin-top:0px">' +
      '<a style="color:#0000ff" href="https://x.test/" rel="noopener noreferrer nofollow" target="_blank">x</a></div>',
  )
  expect(shown('<html><head><title>t</title></head><body><p>x</p></body></html>')).toBe('<p>x</p>')
})

test('keeps media queries in a style element whose selectors are classes of this message', () => {
  const css = '@media only screen and (max-width: 480px){.a b{width:100%!important}}'
  const html = shown(`<style>${css}</style><p class="a"><b>x</b></p>`)
  expect(withShortClasses(html)).toBe(
    '<style>@media only screen and (max-width: 480px){.c1{width:100% !important}}</style><p><b class="c1">x</b></p>',
  )
  const other = shown(`<style>${css}</style><p class="a"><b>y</b></p>`)
  expect(/m[\da-f]{10}/.exec(html)?.[0]).not.toBe(/m[\da-f]{10}/.exec(other)?.[0])
})

test.each([
  ['@media all{b{color:red}}', undefined],
  ['@media screen, (min-width:1px){b{color:red}}', undefined],
  ['@media print{b{color:red}}', '@media print{.c1{color:red !important}}'],
  ['@media (min-width:1px), (no-such:1px){b{color:red}}', '@media (min-width:1px){.c1{color:red !important}}'],
  [
    '@media (hover){@media (min-width:1px){b{color:red}}}',
    '@media (hover){@media (min-width:1px){.c1{color:red !important}}}',
  ],
  ['@media (prefers-color-scheme:dark){b{color:red}}', '@media (prefers-color-scheme:dark){.c1{color:red !important}}'],
  ['@media yahoo{b{color:red}}', undefined],
  ['@media (width<9px){b{color:red}}', undefined],
  ['@supports (color:red){b{color:red}}', undefined],
  ['@layer a{b{color:red}}', undefined],
  ['@container (min-width:1px){b{color:red}}', undefined],
  ['b:hover{color:red}', '.c1:where(:hover){color:red !important}'],
  ['b::before{content:"<x>";color:red}', ".c1::before{content:'\\3c x\\3e ' !important;color:red !important}"],
  ['b::before{content:attr(title)}', undefined],
  ['b{content:"x"}', undefined],
])('%p becomes the style element %p', (css, sheet) => {
  expect(sheetOf(css)).toBe(sheet)
})

test('rules under a condition win over and lose to the others as before', () => {
  const phone = (css: string, body?: string) => sheetOf(css.replace('phone', '@media (max-width:9px)'), body)
  expect(phone('b{color:red}phone{b{color:blue}}')).toContain('color:blue')
  expect(phone('phone{b{color:blue}}b{color:red}')).toBeUndefined()
  expect(phone('phone{b{color:blue}}', '<b style="color:red">x</b>')).toBeUndefined()
  expect(phone('phone{b{color:blue!important}}', '<b style="color:red">x</b>')).toContain('color:blue')
  expect(phone('phone{b{color:blue!important}}', '<b style="color:red!important">x</b>')).toBeUndefined()
  expect(phone('phone{b{color:blue;margin:0}}', '<b style="color:red">x</b>')).toContain('{margin:0 !important}')
  expect(phone('phone{b{color:blue!important}b{color:red}}')).toMatch(/color:red.*color:blue/s)
  expect(phone('phone{.x{color:blue}b{color:red}}', '<b class="x">x</b>')).toMatch(/color:red.*color:blue/s)
})

test('what has to win over a part of a rule under a condition stands in both', () => {
  const html = shown('<style>@media (max-width:9px){b{padding:1px}}</style><b style="padding-left:2px">x</b>')
  expect(withShortClasses(html)).toBe(
    '<style>@media (max-width:9px){.c1{padding:1px !important}}\n.c2{padding-left:2px !important}</style>' +
      '<b style="padding-left:2px" class="c1 c2">x</b>',
  )
})

test.each([
  'background:url(http://t.example/)',
  'background:u\\72l(http://t.example/)',
  'background-image:image-set("http://t.example/" 1x)',
  'background-image:cross-fade(url(http://t.example/),red,5%)',
  'list-style-image:url(http://t.example/)',
  'border-image:url(http://t.example/)',
  'cursor:url(http://t.example/),auto',
  'color:var(--x)',
  '--x:url(http://t.example/)',
  'width:attr(x px)',
  'width:env(x)',
  'width:expression(alert(1))',
  'behavior:url(x)',
  '-moz-binding:url(x)',
  'position:fixed',
  'position:sticky',
  'position:absolute',
  'z-index:9',
  'transform:scale(99)',
  'animation:x 1s',
  'transition:all 1s',
  'filter:blur(9px)',
  'pointer-events:none',
  'box-shadow:0 0 0 9999px red',
  'text-indent:-9999px',
  'font-family:"a\\3c/style>"',
  'all:unset',
])('drops %p from style sheets and style attributes', declaration => {
  const escaped = declaration.replaceAll('"', '&quot;')
  expect(shown(`<style>b{${declaration}}@media print{b{${declaration}}}</style><b style="${escaped}">x</b>`)).toBe(
    '<b>x</b>',
  )
})

test('keeps remote images of styles and of the attribute background only on request', () => {
  const html =
    '<style>b{background:url(HTTPS://t.example/a"b\\29.png) no-repeat}</style><td background="https://t.example/c.png"><b>x</b></td>'
  expect(shown(html)).not.toContain('t.example')
  const allowed = sanitizeHtml(html, 'allow')
  expect(allowed).toContain("url('https://t.example/c.png')")
  expect(sanitizeHtml('<b style="background:url(https://t.example/a\\29.png) no-repeat">x</b>', 'allow')).toContain(
    "background:url('https://t.example/a%29.png') no-repeat",
  )
  for (const other of ['//t.example/', 'data:image/png,x', 'javascript:x', 'a.png', 'cid:a', 'ftp://t.example/'])
    expect(sanitizeHtml(`<b style="background:url(${other})">x</b>`, 'allow')).toBe('<b>x</b>')
})

test('keeps what presentational attributes say', () => {
  const html =
    '<table border="1" cellpadding="2" cellspacing="3" width="60%" align="center" bgcolor="#fff" rules="rows" frame="box">' +
    '<tr valign="top"><td width="10" height="20" nowrap="nowrap" colspan="2" align="right">x</td></tr></table>' +
    '<font color="red" face="Arial" size="4">x</font><hr size="3" noshade="noshade" width="50%" /><br clear="all" />'
  expect(shown(html)).toBe(html)
})

test('quotes with what fits into style attributes, and no style element', () => {
  const html =
    '<style>p{color:red}@media print{p{color:blue}}p:hover{color:green}</style><body style="margin:0"><p class="x">x</p>'
  expect(sanitizeQuotedHtml(html, '')).toBe('<div style="display:flow-root;margin:0"><p style="color:red">x</p></div>')
})

test('quotes a long message without its style sheets where those would make it much longer', () => {
  const html = `<style>p{color:red;padding:0;margin:0;font-family:Arial}</style>${'<p>x</p>'.repeat(6000)}`
  expect(shown(html).length).toBeGreaterThan(300_000)
  expect(sanitizeQuotedHtml(html, '')).toBe('<p>x</p>'.repeat(6000))
})

test('shows a message whose styles are too much without its style sheets', () => {
  const body = '<p style="color:red" class="a">x</p>'
  const excessive = [
    'a{}'.repeat(100_000),
    `${'p,'.repeat(10_000)}p{color:blue}`,
    'p{color:blue}'.repeat(4500),
    `p${':is(p'.repeat(40)}${')'.repeat(40)}{color:blue}`,
    'a{'.repeat(50),
    `@media print{${'p{color:blue}'.repeat(3999)}}`,
  ]
  for (const css of excessive.slice(0, 5))
    expect(shown(`<style>${css}</style>${body}`)).toBe('<p style="color:red">x</p>')
  expect(shown(`<style>${excessive[5]}</style>${body.repeat(2000)}`)).toBe('<p style="color:red">x</p>'.repeat(2000))
})
