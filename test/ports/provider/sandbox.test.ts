import { expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sandboxProvider, storeInFolder } from '../../../src/ports/provider/sandbox.ts'
import { providerContract, submission } from './contract.ts'

async function newFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'))
  return { folder, close: () => rm(folder, { recursive: true }) }
}

providerContract('sandbox', async () => {
  const { folder, close } = await newFolder()
  return {
    provider: sandboxProvider({ store: storeInFolder(folder, 100) }),
    async received() {
      const files = await Promise.all((await readdir(folder)).sort().map(name => readFile(join(folder, name))))
      return files.map(file => {
        const [, from, to] = /^Return-Path: <(.*?)>\r\n((?:Delivered-To: .*\r\n)+)/.exec(file.toString('latin1')) ?? []
        return {
          from: from ?? '?',
          to: (to ?? '')
            .trim()
            .split('\r\n')
            .map(line => line.slice('Delivered-To: '.length)),
          message: file.subarray(`Return-Path: <${from}>\r\n${to}`.length),
        }
      })
    },
    close,
  }
})

test('the folder holds the newest messages, up to its limit', async () => {
  const { folder, close } = await newFolder()
  const provider = sandboxProvider({ store: storeInFolder(folder, 3) })
  for (let i = 0; i < 8; i++) await provider.submit(submission({ recipients: [`u${i}@x.test`] }))
  const names = (await readdir(folder)).sort()
  const files = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')))
  expect(files.map(file => /Delivered-To: (.*)\r/.exec(file)?.[1]).sort()).toEqual([
    'u5@x.test',
    'u6@x.test',
    'u7@x.test',
  ])
  await close()
})
