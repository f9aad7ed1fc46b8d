import type { Page } from 'playwright-core'
import { until } from '../harness/until.ts'

/** In a form whose saving met a change of someone else: shows what they saved. */
export async function takeTheirs(page: Page): Promise<void> {
  await decide(page, 'Take what was saved')
}

/** The same: saves what is typed all the same. */
export async function keepMine(page: Page): Promise<void> {
  await decide(page, 'Keep what I typed')
}

async function decide(page: Page, choice: string): Promise<void> {
  const notice = page.getByRole('dialog').getByRole('alert')
  await notice.getByText('This was changed by someone else').waitFor()
  await notice.getByRole('button', { name: choice }).click()
  await notice.waitFor({ state: 'detached' })
}

/** Waits until the box of the open dialog is ticked, or is not. */
export async function untilTicked(page: Page, name: string, isTicked: boolean): Promise<void> {
  const box = page.getByRole('dialog').getByRole('checkbox', { name })
  await until(async () => (await box.isChecked()) === isTicked, { what: `${name} is ${isTicked ? '' : 'not '}ticked` })
}
