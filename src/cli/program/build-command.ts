import { buildProgram, programFolder } from './build.ts'

/** `bun run program:build`: builds the program, which `./mailroom` then runs in place of its sources. */
const startedAt = performance.now()
await buildProgram()
process.stdout.write(`built ${programFolder} in ${Math.round(performance.now() - startedAt)} ms\n`)
