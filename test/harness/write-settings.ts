import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsDocument } from '../../src/base/config/config.ts'
import { projectRoot } from './cli.ts'

// Writes docs/settings.md from the settings' definitions; a test compares the two.
writeFileSync(join(projectRoot, 'docs/settings.md'), settingsDocument())
