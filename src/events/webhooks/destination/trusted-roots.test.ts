import { expect, test } from 'bun:test'
import { getCACertificates, rootCertificates } from 'node:tls'
import { receiverTls, trustedRoots } from './trusted-roots.ts'

const [first = '', second = ''] = rootCertificates

test('the roots of a private authority are trusted beside the public ones', () => {
  const roots = trustedRoots(`# Ours\n${first}\nand\r\n${second}\n`)
  expect(roots).toEqual([...getCACertificates('default'), first, second])
  expect(new Set(roots)).toEqual(new Set([...rootCertificates, ...roots]))
})

test('a text without a certificate, or with a broken one, is refused', () => {
  expect(() => trustedRoots('')).toThrow('there is no certificate in it')
  expect(() => trustedRoots(first.slice(0, -30))).toThrow('there is no certificate in it')
  const broken = first.replace(/\n[^-]{20}/, '\nAAAAAAAAAAAAAAAAAAAA')
  expect(() => trustedRoots(`${second}\n${broken}`)).toThrow('a certificate in it cannot be read')
})

test('the start stops with a sentence where the file has none', () => {
  expect(() => receiverTls('/nowhere/roots.pem')).toThrow(
    /^MAILROOM_WEBHOOK_CA is "\/nowhere\/roots\.pem"; expected a file with root certificates in PEM \(.*ENOENT.*\)\.$/,
  )
  expect(() => receiverTls(import.meta.path)).toThrow(/\(there is no certificate in it\)\.$/)
})
