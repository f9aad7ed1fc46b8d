import type { components } from '../../api/generated/app.ts'
import type { Tone } from '../../components/text/Status.tsx'
import { lampStrings, statusStrings } from './strings.ts'

/** Something that needs somebody, in an organization or in the instance. */
export type Lamp = components['schemas']['StatusLamp'] | components['schemas']['InstanceLamp']

const whole = new Intl.NumberFormat('en')

/** What a lamp says, its number written out. */
export function lampText({ name, count, more, unit }: Lamp): string {
  const number = `${whole.format(count)}${more ? '+' : ''}${unit === 'percent' ? ' %' : ''}`
  const write = lampStrings[name]
  return write ? write(number, count === 1) : statusStrings.unknown(name, number)
}

/** The tone of each level. */
export const lampTones: Readonly<Record<Lamp['level'], Extract<Tone, 'info' | 'warn' | 'bad'>>> = {
  notice: 'info',
  warning: 'warn',
  critical: 'bad',
}
