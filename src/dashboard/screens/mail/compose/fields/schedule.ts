/** A time that a person may choose to send at, in their zone. */
export interface ScheduleChoice {
  readonly key: 'hour' | 'tomorrow' | 'monday'
  readonly at: Date
}

const hourMs = 3_600_000
const morning = 8
const monday = 1

/** In one hour, tomorrow morning, Monday morning (where that is not tomorrow). */
export function scheduleChoices(now: Date): readonly ScheduleChoice[] {
  const tomorrow = morningIn(now, 1)
  const daysToMonday = (monday - now.getDay() + 7) % 7 || 7
  return [
    { key: 'hour', at: new Date(now.getTime() + hourMs) },
    { key: 'tomorrow', at: tomorrow },
    ...(daysToMonday > 1 ? [{ key: 'monday', at: morningIn(now, daysToMonday) } as const] : []),
  ]
}

function morningIn(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, morning)
}

/** As `<input type="datetime-local">` has it, in the person's zone. */
export function localInputValue(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}
