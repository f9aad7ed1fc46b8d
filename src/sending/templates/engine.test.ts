import { describe, expect, test } from 'bun:test'
import { findFault, type RenderResult, renderParts, type TemplatePart, type TemplateSources } from './engine.ts'

const nothing: TemplateSources = { subject: null, text: null, html: null }

function only(part: TemplatePart, source: string): TemplateSources {
  return { ...nothing, [part]: source }
}

function made(part: TemplatePart, source: string, variables: object = {}): string | null {
  const rendered = renderParts(only(part, source), variables)
  if (rendered.kind !== 'rendered') throw new Error(rendered.fault.what)
  return rendered[part]
}

function faultOf(rendered: RenderResult): string {
  return rendered.kind === 'faulty' ? rendered.fault.what : `rendered ${JSON.stringify(rendered).slice(0, 200)}`
}

describe('escaping', () => {
  const name = `<b>"O'Neil" & co</b>`

  test('is on in html, also in echo, and off in text and subject', () => {
    const escaped = '&lt;b&gt;&#34;O&#39;Neil&#34; &amp; co&lt;/b&gt;'
    expect(made('html', '<p>{{ name }}</p>', { name })).toBe(`<p>${escaped}</p>`)
    expect(made('html', '{% echo name %}{% liquid echo name %}', { name })).toBe(escaped + escaped)
    expect(made('html', '{{ name | upcase | append: "<i>" }}', { name: '<b>' })).toBe('&lt;B&gt;&lt;i&gt;')
    for (const part of ['text', 'subject'] as const) expect(made(part, '{{ name }}', { name })).toBe(name)
  })

  test('holds for lists, cycles, captures and loops', () => {
    expect(made('html', '{{ list }}{{ list | join: "<" }}', { list: ['<', ['>']] })).toBe('&lt;&gt;&lt;&lt;&gt;')
    expect(made('html', '{% capture c %}<i>{{ x }}</i>{% endcapture %}{{ c | raw }}', { x: '<' })).toBe('<i>&lt;</i>')
    expect(made('html', '{% for x in list %}<li>{{ x }}</li>{% endfor %}', { list: ['<', 'b'] })).toBe(
      '<li>&lt;</li><li>b</li>',
    )
  })

  test('stays on where a value comes through a tag that writes by itself', () => {
    for (const source of ['{% cycle x %}', '{% tablerow i in list %}{{ i }}{% endtablerow %}'])
      expect(made('html', source, { x: '<script>', list: ['<script>'] })).not.toContain('<script>')
  })

  test('goes off with raw alone', () => {
    expect(made('html', '{{ name | raw }}', { name })).toBe(name)
    expect(made('html', '{{ name | raw | upcase }}', { name: '<b>' })).toBe('&lt;B&gt;')
  })
})

test('knows the commonly used filters', () => {
  const order = {
    total: 12.5,
    at: '2026-01-31T08:15:00Z',
    items: [
      { n: 'b', q: 2 },
      { n: 'a', q: 1 },
    ],
  }
  const source =
    '{{ order.total | times: 2 | round: 1 }} {{ order.at | date: "%d %B %Y %H:%M" }} ' +
    '{{ order.items | sort: "n" | map: "n" | join: ", " }} {{ order.items | where: "q", 2 | size }} ' +
    '{{ nothing | default: "none" }} {{ "x" | json }} {{ "a b" | url_encode }}'
  expect(made('text', source, { order })).toBe('25 31 January 2026 08:15 a, b 1 none "x" a+b')
})

describe('reports what is wrong and where', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['an output that does not end', 'Hello {{ name', /not closed.*line:1, col:7/],
    ['a tag that does not end', 'a\nb {% if x', /not closed.*line:2, col:3/],
    ['a block that does not end', '{% if x %}a', /not closed/],
    ['an end too many', '{% endif %}', /endif/],
    ['a tag that is none', '{% frobnicate %}', /frobnicate.*not found/],
    ['a filter that is none', '{{ a | frobnicate }}', /undefined filter: frobnicate/],
    ['what reads files', '{% include "/etc/passwd" %}', /include.*not found/],
    ['what renders files', '{% render "/etc/passwd" %}', /render.*not found/],
    ['a layout', '{% layout "/etc/passwd" %}', /layout.*not found/],
    ['a block of a layout', '{% block a %}{% endblock %}', /block.*not found/],
    ['lists in lists', '{{ a | push: a }}', /undefined filter: push/],
    ['expressions in strings', '{{ a | where_exp: "x", "x" }}', /undefined filter: where_exp/],
  ]
  for (const [name, source, what] of cases)
    test(name, () => {
      for (const part of ['subject', 'text', 'html'] as const) {
        expect(findFault(only(part, source))).toEqual({ part, what: expect.stringMatching(what) as never })
        expect(faultOf(renderParts(only(part, source), {}))).toMatch(what)
      }
    })

  test('nothing, when nothing is wrong', () => {
    expect(findFault({ subject: '{{ a }}', text: '', html: '{% # remark %}{% raw %}{{ {% endraw %}' })).toBeUndefined()
  })
})

describe('gives access to nothing but the variables', () => {
  test('no prototype, constructor or function', () => {
    const paths = [
      '__proto__',
      'constructor',
      'toString',
      'user.__proto__',
      'user.constructor',
      'user.constructor.constructor',
      'user["__proto__"]["polluted"]',
      'name.constructor',
      'name.length.constructor',
      'list.constructor',
      'list.map',
      'list.__proto__.length',
      'forloop.constructor',
      'process.env',
      'globalThis',
      'Bun',
    ]
    for (const path of paths) {
      const rendered = renderParts(only('text', `{{ ${path} }}`), { user: { a: 1 }, name: 'n', list: [1] })
      expect([path, rendered]).toEqual([path, { kind: 'rendered', ...nothing, text: '' }])
    }
    for (const path of ['constructor', '__proto__', '__proto__.constructor', 'valueOf', '__defineGetter__', 'next']) {
      const rendered = renderParts(only('text', `{% for i in (1..2) %}{{ forloop.${path} }}{% endfor %}`), {})
      if (rendered.kind === 'rendered') expect(rendered.text).not.toMatch(/function|native code|class/)
    }
  })

  test('a variable with such a name is an ordinary one, and pollutes nothing', () => {
    const variables = JSON.parse('{"constructor": "c", "a": {"__proto__": {"polluted": "yes"}}}') as object
    expect(made('text', '{{ constructor }}{{ a.polluted }}', variables)).toBe('c')
    made(
      'text',
      '{% assign __proto__ = a %}{% increment __proto__ %}{% capture constructor %}x{% endcapture %}',
      variables,
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('one part does not change what the others see', () => {
    const source = '{% increment n %}{% assign a = "changed" %}{{ a }}'
    const rendered = renderParts({ subject: source, text: source, html: source }, { a: 'given' })
    expect(rendered).toEqual({ kind: 'rendered', subject: '0changed', text: '0changed', html: '0changed' })
  })
})

/** Each would take minutes or gigabytes. */
const bombs: readonly (readonly [string, string, object?])[] = [
  ['nested loops', `${'{% for i in (1..1000) %}'.repeat(6)}x${'{% endfor %}'.repeat(6)}`],
  ['nested loops of nothing', `${'{% for i in (1..1000) %}'.repeat(6)}${'{% endfor %}'.repeat(6)}`],
  ['nested tables', `${'{% tablerow i in (1..1000) %}'.repeat(6)}${'{% endtablerow %}'.repeat(6)}`],
  ['a huge range', '{% for i in (1..10000000000) %}x{% endfor %}'],
  ['a huge range that is only read', '{% assign a = (1..4000000000) %}{{ a.size }}'],
  ['a range below nothing, and one above', '{% assign a = (1..-9000000000) %}{% assign b = (1..100000000) %}'],
  [
    'a text that doubles',
    '{% assign a = "xxxxxxxx" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}',
  ],
  [
    'a text that doubles before itself',
    '{% assign a = "x" %}{% for i in (1..60) %}{% assign a = a | prepend: a %}{% endfor %}',
  ],
  [
    'a capture that doubles',
    '{% assign a = "x" %}{% for i in (1..60) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}',
  ],
  [
    'a list that doubles',
    '{% assign a = "1,2" | split: "," %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}',
  ],
  [
    'a list of large texts',
    '{% assign a = big | split: "," %}{% for i in (1..30) %}{% assign a = a | concat: a %}{{ a | join: big }}{% endfor %}',
    { big: 'x'.repeat(60_000) },
  ],
  [
    'a replacement that multiplies',
    '{% assign a = big | replace: "x", big | replace: "x", big %}{{ a }}',
    { big: 'x'.repeat(60_000) },
  ],
  [
    'a search that nearly finds',
    '{% for i in (1..90000) %}{% if big contains sought %}{% endif %}{% endfor %}',
    { big: 'ab'.repeat(12_000), sought: `${'ab'.repeat(6000)}ba` },
  ],
  [
    'a split that nearly finds',
    '{% for i in (1..90000) %}{% assign a = big | split: sought %}{% endfor %}',
    { big: 'ab'.repeat(12_000), sought: `${'ab'.repeat(6000)}ba` },
  ],
  ['a date of great width', '{{ "now" | date: "%9999999999d" }}'],
  ['many dates', '{% for i in (1..99000) %}{{ i | date: "%c %Z" }}{% endfor %}'],
  ['a date that is long', '{{ 0 | date: f }}', { f: '%5000000N' }],
  ['much text in a loop', `{% for i in (1..50000) %}${'x'.repeat(100_000)}{% endfor %}`],
  [
    'much text in a captured loop',
    `{% capture a %}{% for i in (1..50000) %}${'x'.repeat(100_000)}{% endfor %}{% endcapture %}`,
  ],
  ['escaping that multiplies', '{% for i in (1..90000) %}{{ a }}{% endfor %}', { a: '"'.repeat(60_000) }],
  ['raw that multiplies', '{% for i in (1..90000) %}{{ a | raw }}{% endfor %}', { a: ['"'.repeat(60_000)] }],
  ['deep nesting', `${'{% if true %}'.repeat(20_000)}x${'{% endif %}'.repeat(20_000)}`],
  ['deep nesting in one tag', `{% liquid\n${'if true\n'.repeat(2000)}${'endif\n'.repeat(2000)}%}`],
  ['deep properties', `{{ a${'[a'.repeat(100_000)}${']'.repeat(100_000)} }}`],
  ['a long expression in a loop', `{% for i in (1..90000) %}{% if ${'a and '.repeat(2000)}a %}{% endif %}{% endfor %}`],
  ['long chains of filters in a loop', `{% for i in (1..90000) %}{{ "x"${' | upcase'.repeat(1500)} }}{% endfor %}`],
  [
    'sorting in a loop',
    '{% for i in (1..90000) %}{% assign b = a | sort | reverse | uniq %}{% endfor %}',
    { a: Array.from({ length: 9000 }, (_, i) => i % 97) },
  ],
  [
    'json in a loop',
    '{% for i in (1..90000) %}{% assign b = a | json %}{% endfor %}',
    { a: Array.from({ length: 9000 }, () => 'x') },
  ],
  ['more tags than fit', '{{a}}'.repeat(100_000)],
  [
    'comparing long texts in a loop',
    '{% for i in (1..90000) %}{% if a == b %}{% endif %}{% endfor %}',
    { a: `${'x'.repeat(30_000)}a`, b: `${'x'.repeat(30_000)}b` },
  ],
]

/** Each is done at once, or refused. */
const odd: readonly (readonly [string, string, object?])[] = [
  ['a remark of line breaks', `{% # ${'\n'.repeat(15_000)}%}`],
  ['outputs that never end', '{{'.repeat(200_000)],
  ['quotes that never end', '{{ "'.repeat(100_000)],
  ['brackets that never end', `{% assign a = ${'('.repeat(15_000)} %}`],
  ['a comment that never ends', `{% comment %}${'{% if %}'.repeat(10_000)}`],
  ['a raw that never ends', `{% raw %}${'{{'.repeat(200_000)}`],
  ['line breaks in the text', '\n'.repeat(500_000)],
  ['a fault at the end of a long line', `${'x'.repeat(500_000)}{{ a | frobnicate }}`],
  ['a slug of signs', '{{ a | slugify }}', { a: '-'.repeat(60_000) }],
  ['tags that never end', '{{ a | strip_html }}', { a: '<'.repeat(60_000) }],
  ['spaces', '{{ a | strip | truncatewords: 3 | normalize_whitespace }}', { a: ' '.repeat(60_000) }],
  ['trim that never meets its tag', `{{- a -}}${' \n'.repeat(200_000)}{{- a -}}`],
]

describe('is bounded', () => {
  const maxMs = 2500
  for (const [name, source, variables = {}] of bombs)
    test(name, () => {
      // Here the collector lets garbage grow with the memory of the machine: only what stays in use is compared.
      const inUse = () => {
        Bun.gc(true)
        return process.memoryUsage().heapUsed
      }
      const before = inUse()
      const startedAt = performance.now()
      const what = faultOf(renderParts(only('html', source), variables))
      expect(what).toMatch(/than a template may|more than|nested too deep|not closed/)
      expect(performance.now() - startedAt).toBeLessThan(maxMs)
      expect((inUse() - before) / 1e6).toBeLessThan(100)
    })
  for (const [name, source, variables = {}] of odd)
    test(name, () => {
      const startedAt = performance.now()
      renderParts(only('html', source), variables)
      expect(performance.now() - startedAt).toBeLessThan(maxMs)
    })

  test('by counts, not by the clock, for many loops or long texts', () => {
    const endless = (body: string) =>
      only('text', `{% for i in (1..1000) %}{% for j in (1..1000) %}${body}{% endfor %}{% endfor %}`)
    expect(faultOf(renderParts(endless(''), {}))).toMatch(/loops have more iterations/)
    expect(faultOf(renderParts(endless('{{ a | upcase }}'), { a: 'x'.repeat(1000) }))).toMatch(/more text and lists/)
    expect(faultOf(renderParts(endless('x'.repeat(100)), {}))).toMatch(/renders to more than|more text and lists/)
  })

  test('and a large ordinary template is not refused', () => {
    const items = Array.from({ length: 300 }, (_, i) => ({ name: `Item <${i}>`, price: i * 1.5, tags: ['a', 'b'] }))
    const row =
      '<tr><td>{{ forloop.index }}</td><td>{{ item.name | truncate: 40 }}</td><td>{{ item.price | round: 2 }}</td>' +
      '<td>{{ item.tags | join: ", " | upcase }}</td>{% if item.price > 100 %}<td>!</td>{% endif %}</tr>'
    const html = made(
      'html',
      `<table>{% for item in items %}${row}{% endfor %}</table>${'<p>text</p>'.repeat(20_000)}`,
      { items },
    )
    expect(html?.match(/<tr>/g)).toHaveLength(300)
  })
})
