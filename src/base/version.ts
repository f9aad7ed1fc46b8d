import packageFile from '../../package.json' with { type: 'json' }

/** This version of Mailroom, as package.json has it. */
export const version: string = packageFile.version
