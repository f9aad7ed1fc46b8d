import { expect, test } from 'bun:test'
import { CommandParser } from '../../../src/servers/smtp/command-parser.ts'

test('tells commands that came together from one that came alone', () => {
  const parser = new CommandParser({ maxCommandLength: 100 })
  const commands: (readonly [string, boolean])[] = []
  parser.oncommand = (command, next) => {
    commands.push([command.toString(), parser.isPipelined])
    if (command.toString() === 'DATA')
      parser.startData({ write: () => undefined, backpressure: () => undefined, end: resume => resume() })
    next?.()
  }
  for (const chunk of [
    'MAIL\r\nRCPT\r\n',
    'NOOP\r\n',
    'RS',
    'ET\n',
    'VRFY\r\nDA',
    'TA\r\n',
    'a\r\n',
    'b\r\n.\r\n',
    'QUIT\r\n',
  ])
    parser.write(chunk)
  expect(commands).toEqual([
    ['MAIL', true],
    ['RCPT', true],
    ['NOOP', false],
    ['RSET', false],
    ['VRFY', true],
    ['DATA', false],
    ['QUIT', false],
  ])
})
