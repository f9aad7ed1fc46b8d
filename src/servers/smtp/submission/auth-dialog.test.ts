import { expect, test } from 'bun:test'
import { beginAuth } from './auth-dialog.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Goes through the dialog with these answers; gives its end and the prompts. */
function dialog(first: string, ...answers: readonly string[]) {
  const prompts: string[] = []
  let step = beginAuth(first)
  for (const answer of answers) {
    if (step.kind !== 'prompt') break
    prompts.push(step.text)
    step = step.next(answer)
  }
  return { end: step.kind === 'credentials' ? step.password : step.kind === 'refused' ? step.code : 'prompt', prompts }
}

test.each([
  [[`AUTH PLAIN ${base64('\0user\0key')}`], 'key', []],
  [['auth plain', base64('authz\0user\0key')], 'key', ['']],
  [['AUTH LOGIN', base64('user'), base64('key')], 'key', ['VXNlcm5hbWU6', 'UGFzc3dvcmQ6']],
  [[`AUTH LOGIN ${base64('user')}`, base64('key')], 'key', ['UGFzc3dvcmQ6']],
  [['AUTH LOGIN =', base64('key')], 'key', ['UGFzc3dvcmQ6']],
  [['AUTH PLAIN', '*'], 'auth_canceled', ['']],
  [['AUTH LOGIN', base64('user'), ' * '], 'auth_canceled', ['VXNlcm5hbWU6', 'UGFzc3dvcmQ6']],
  [[`AUTH PLAIN ${base64('user\0key')}`], 'auth_malformed', []],
  [[`AUTH PLAIN ${base64('\0user\0key\0more')}`], 'auth_malformed', []],
  [['AUTH PLAIN ='], 'auth_malformed', []],
  [['AUTH LOGIN', 'not base64!'], 'auth_malformed', ['VXNlcm5hbWU6']],
  [['AUTH XOAUTH2 x'], 'auth_mechanism_unknown', []],
  [['AUTH'], 'parameter_malformed', []],
  [['AUTH PLAIN a b'], 'parameter_malformed', []],
] as const)('%j ends in %s', ([first, ...answers], end, prompts) => {
  expect(dialog(first, ...answers)).toEqual({ end, prompts: [...prompts] })
})
