import { buildDashboard } from './build.ts'

/** `bun run dashboard:build`: builds the dashboard and prints what each kind of file weighs. */
const startedAt = performance.now()
const { files } = await buildDashboard()
const ms = Math.round(performance.now() - startedAt)
const sizes = Object.entries(files).map(([name, { bytes, gzip }]) => ({ name, bytes, sent: gzip?.bytes ?? bytes }))
for (const { name, sent } of sizes.toSorted((a, b) => b.sent - a.sent).slice(0, 12))
  process.stdout.write(`${(sent / 1024).toFixed(1).padStart(7)} KiB gzip  ${name}\n`)
process.stdout.write(`built ${sizes.length} files of the dashboard in ${ms} ms\n`)
