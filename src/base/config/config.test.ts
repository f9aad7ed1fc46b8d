import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, settingsDocument } from './config.ts'

const relay = { MAILROOM_SMARTHOST_URL: 'smtp://127.0.0.1:2600' }

test('reads the variables that are set and uses defaults for the rest', () => {
  const config = readConfig({
    ...relay,
    MAILROOM_RESOLVERS: '127.0.0.1:5354, [::1]',
    MAILROOM_CLAMD: 'tcp:127.0.0.1:3310',
    MAILROOM_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,2001:db8::/32',
    PATH: '/bin',
  })
  expect(config.resolvers).toEqual([
    { host: '127.0.0.1', port: 5354 },
    { host: '::1', port: 53 },
  ])
  expect(config.clamd).toEqual({ kind: 'tcp', host: '127.0.0.1', port: 3310 })
  expect(config.trustedProxies).toEqual(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'])
  expect(config.maxMessageBytes).toBe(35 * 1024 * 1024)
  expect(config.roles).toEqual(['smtp', 'http', 'relay', 'submission', 'webhooks'])
  expect(config.tlsCert).toBeUndefined()
  expect(config.smarthostUrls).toEqual(['smtp://127.0.0.1:2600'])
})

test('reads several relays in order', () => {
  const { smarthostUrls } = readConfig({ MAILROOM_SMARTHOST_URL: 'smtps://a.example, smtp://u:p@b.example:2525' })
  expect(smarthostUrls).toEqual(['smtps://a.example', 'smtp://u:p@b.example:2525'])
})

const invalid: Readonly<Record<string, Record<string, string>>> = {
  'MAILROOM_TYPO is not a setting': { MAILROOM_TYPO: 'x' },
  'MAILROOM_HTTP_LISTEN is "8080"; expected': { MAILROOM_HTTP_LISTEN: '8080' },
  'MAILROOM_MAX_RECIPIENTS is "0"; expected a whole number from 1': { MAILROOM_MAX_RECIPIENTS: '0' },
  'MAILROOM_ROLES is "smtp,pop"': { MAILROOM_ROLES: 'smtp,pop' },
  'MAILROOM_CLAMD is "/run/clamd"': { MAILROOM_CLAMD: '/run/clamd' },
  'MAILROOM_DATABASE_URL is "http://u:…@h/d"': { MAILROOM_DATABASE_URL: 'http://u:secret@h/d' },
  'MAILROOM_TRUSTED_PROXIES is "10.0.0.0/33"': { MAILROOM_TRUSTED_PROXIES: '10.0.0.0/33' },
  'MAILROOM_TRUSTED_PROXIES is "proxy"': { MAILROOM_TRUSTED_PROXIES: 'proxy' },
  'MAILROOM_TLS_CERT and MAILROOM_TLS_KEY go together': { MAILROOM_TLS_CERT: '/x' },
  'MAILROOM_SMARTHOST_URL is "smtp://u:…@a,http://u:…@b"; expected': {
    MAILROOM_SMARTHOST_URL: 'smtp://u:secret@a,http://u:secret@b',
  },
  'MAILROOM_SMARTHOST_PRESET is "sparkpost"; expected `postfix` or': { MAILROOM_SMARTHOST_PRESET: 'sparkpost' },
  'MAILROOM_SENDGRID_PUBLIC_KEY is "AAAA"; expected an elliptic curve public key': {
    MAILROOM_SENDGRID_PUBLIC_KEY: 'AAAA',
  },
  'MAILROOM_SMARTHOST_URL is absent': { MAILROOM_SMARTHOST_URL: '' },
  'MAILROOM_DNS_ZONE is "route53"; expected `cloudflare` or `powerdns` or `local`': { MAILROOM_DNS_ZONE: 'route53' },
  'MAILROOM_CLOUDFLARE_TOKEN is absent': { MAILROOM_DNS_ZONE: 'cloudflare' },
  'MAILROOM_SES_REGION is absent': { MAILROOM_PROVIDER: 'ses' },
  'MAILROOM_SES_REGION is "Frankfurt"; expected a region': { MAILROOM_SES_REGION: 'Frankfurt' },
  'MAILROOM_SES_TOPIC_ARN is "mail"; expected an ARN': { MAILROOM_SES_TOPIC_ARN: 'mail' },
  'MAILROOM_SES_REGION is absent; MAILROOM_SES_QUEUE_URL': {
    MAILROOM_SES_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/123456789012/mail',
    MAILROOM_SES_CONFIGURATION_SET: 'mail',
  },
  'MAILROOM_SES_CONFIGURATION_SET is absent': { MAILROOM_SES_TOPIC_ARN: 'arn:aws:sns:eu-west-1:123456789012:mail' },
  'MAILROOM_DNS_ZONE=powerdns needs': { MAILROOM_DNS_ZONE: 'powerdns', MAILROOM_POWERDNS_URL: 'http://127.0.0.1:8081' },
}

for (const [sentence, env] of Object.entries(invalid))
  test(`refuses to start: ${sentence}`, () => expect(() => readConfig({ ...relay, ...env })).toThrow(sentence))

test('documents every setting', () => {
  expect(settingsDocument().split('\n').length).toBeGreaterThan(40)
})

test('reads a value from a file, and refuses to start when it cannot', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-config-'))
  const file = join(folder, 'url')
  writeFileSync(file, 'mysql://u:secret@h/d\r\n')
  expect(readConfig({ ...relay, MAILROOM_DATABASE_URL_FILE: file }).databaseUrl).toBe('mysql://u:secret@h/d')
  const both = { ...relay, MAILROOM_DATABASE_URL_FILE: file, MAILROOM_DATABASE_URL: 'mysql://h/d' }
  expect(() => readConfig(both)).toThrow('MAILROOM_DATABASE_URL and MAILROOM_DATABASE_URL_FILE are both set')
  rmSync(folder, { recursive: true })
  expect(() => readConfig({ ...relay, MAILROOM_DATABASE_URL_FILE: file })).toThrow(
    `MAILROOM_DATABASE_URL_FILE is "${file}"; expected a readable file`,
  )
  expect(() => readConfig({ ...relay, MAILROOM_TYPO_FILE: file })).toThrow('MAILROOM_TYPO_FILE is not a setting')
})
