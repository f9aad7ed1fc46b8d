import type { Page } from 'playwright-core'
import { expectNoAxeViolations, inAllLooks } from '../harness/dashboard.ts'

/** Looks at the page at both widths and in both themes, with axe-core, and leaves it wide and light. */
export async function look(page: Page, name: string): Promise<void> {
  await inAllLooks(page, name, expectNoAxeViolations)
}
