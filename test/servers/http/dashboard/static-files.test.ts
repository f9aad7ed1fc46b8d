import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import type { BuiltFile, DashboardManifest } from '../../../../src/servers/http/dashboard/manifest.ts'
import { openTestHttpServer, type TestHttpServer } from '../../../harness/http-server.ts'
import { rawHttp } from '../../../harness/raw-http.ts'

const page = `<!doctype html><title>Mailroom</title>${'<!-- -->'.repeat(50)}`
const script = `console.log(1)//${'x'.repeat(500)}`
const font = Buffer.from([0, 1, 2, 3])

let server: TestHttpServer
let withoutBuild: TestHttpServer
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-'))
  const manifest: DashboardManifest = {
    sources_sha256: '',
    index: 'index-1.html',
    files: {
      'index-1.html': store('index-1.html', 'text/html; charset=utf-8', Buffer.from(page), true),
      'main-1.js': store('main-1.js', 'text/javascript; charset=utf-8', Buffer.from(script), true),
      'inter-1.woff2': store('inter-1.woff2', 'font/woff2', font, false),
    },
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  server = await openTestHttpServer({ dashboardFolder: folder })
  withoutBuild = await openTestHttpServer()
})
afterAll(async () => {
  await server.close()
  await withoutBuild.close()
  rmSync(folder, { recursive: true, force: true })
})

function store(name: string, type: string, bytes: Buffer, isCompressed: boolean): BuiltFile {
  const write = (suffix: string, content: Buffer) => {
    writeFileSync(join(folder, name + suffix), content)
    return { bytes: content.length, sha256: '' }
  }
  return {
    type,
    ...write('', bytes),
    br: isCompressed ? write('.br', brotliCompressSync(bytes)) : null,
    gzip: isCompressed ? write('.gz', gzipSync(bytes)) : null,
  }
}

const asset = '/app/assets/main-1.js'

/** The response as it comes over the connection. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET', from = server) {
  const response = await fetch(from.url + path, {
    method,
    headers,
    redirect: 'manual',
    decompress: false,
  } as RequestInit)
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

test('a file is sent as the client can decode it: brotli, gzip or plain', async () => {
  const brotli = await get(asset, { 'accept-encoding': 'gzip, deflate, br' })
  expect([brotli.headers.get('content-encoding'), brotliDecompressSync(brotli.bytes).toString()]).toEqual([
    'br',
    script,
  ])
  const gzip = await get(asset, { 'accept-encoding': 'gzip' })
  expect([gzip.headers.get('content-encoding'), gunzipSync(gzip.bytes).toString()]).toEqual(['gzip', script])
  const plain = await get(asset, { 'accept-encoding': 'identity' })
  expect([plain.headers.get('content-encoding'), plain.bytes.toString()]).toEqual([null, script])
  const woff = await get('/app/assets/inter-1.woff2', { 'accept-encoding': 'br' })
  expect([woff.headers.get('content-encoding'), woff.bytes]).toEqual([null, font])
  for (const { headers } of [brotli, gzip, plain]) {
    expect(headers.get('vary')).toBe('Accept-Encoding')
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  }
  expect(new Set([brotli, gzip, plain].map(({ headers }) => headers.get('etag'))).size).toBe(3)
})

test('a file that the client has is not sent again', async () => {
  const first = await get(asset, { 'accept-encoding': 'br' })
  const etag = first.headers.get('etag') ?? ''
  const again = await get(asset, { 'accept-encoding': 'br', 'if-none-match': `W/${etag}, "other"` })
  expect([again.status, again.bytes.length, again.headers.get('etag')]).toEqual([304, 0, etag])
  expect(again.headers.get('cache-control')).toContain('immutable')
  const head = await get(asset, { 'accept-encoding': 'br', 'if-none-match': etag }, 'HEAD')
  expect([head.status, head.headers.get('content-length')]).toEqual([304, null])
  expect((await get(asset, { 'if-none-match': etag, 'accept-encoding': 'gzip' })).status).toBe(200)
})

test('HEAD says what GET would send', async () => {
  const [got, head] = [
    await get(asset, { 'accept-encoding': 'br' }),
    await get(asset, { 'accept-encoding': 'br' }, 'HEAD'),
  ]
  expect([head.status, head.bytes.length, head.headers.get('content-length')]).toEqual([
    200,
    0,
    String(got.bytes.length),
  ])
})

test('every path below /app that is no file is the page, never stored', async () => {
  for (const path of [
    '/app',
    '/app/',
    '/app/welcome',
    '/app/org_1/mail/inbox?q=1',
    '/app/instance/queue',
    '/app/message/x',
    '/app/a%2fb',
  ]) {
    const { status, headers, bytes } = await get(path)
    expect([path, status, bytes.toString()]).toEqual([path, 200, page])
    expect(headers.get('cache-control')).toBe('no-store')
  }
})

test('an unknown asset, another method and /app/api are not the page', async () => {
  for (const path of [
    '/app/assets/',
    '/app/assets/main-0.js',
    '/app/assets/manifest.json',
    '/app/assets/..%2fmanifest.json',
    '/app/assets/main-1.js.br',
    '/app/api/x',
    '/app/api',
    '/application',
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404])
  expect((await get('/app', {}, 'POST')).status).toBe(404)
  const raw = await rawHttp(
    server.port,
    'GET /app/assets/../../package.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    5000,
  )
  expect(raw).toContain('404')
})

test('the page loads from this server alone, is framed by none, and gives no address to others', async () => {
  for (const path of ['/app', asset]) {
    const { headers } = await get(path)
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    )
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('permissions-policy')).toContain('camera=()')
    expect(headers.get('x-request-id')).toStartWith('req_')
    expect(headers.get('server')).toBeNull()
    expect(headers.get('access-control-allow-origin')).toBeNull()
  }
})

test('without built files a page says what to run', async () => {
  const { status, headers, bytes } = await get('/app', {}, 'GET', withoutBuild)
  expect([status, headers.get('cache-control')]).toEqual([503, 'no-store'])
  expect(bytes.toString()).toContain('run <code>bun run dashboard:build</code>')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('a damaged build is told in the log, and the rest of the server runs', async () => {
  writeFileSync(join(folder, 'main-1.js.br'), 'cut')
  const damaged = await openTestHttpServer({ dashboardFolder: folder })
  expect((await get('/app', {}, 'GET', damaged)).status).toBe(503)
  expect((await get('/health', {}, 'GET', damaged)).status).toBe(200)
  expect(damaged.logged.join()).toContain('the files of the dashboard cannot be read')
  await damaged.close()
})
