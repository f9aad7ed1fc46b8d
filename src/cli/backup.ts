import { runCreate } from './backup/create.ts'
import { runList, runPrune } from './backup/list.ts'
import { runVerify } from './backup/verify.ts'
import type { Command } from './command.ts'

export const backupCommand: Command = {
  usage: `./mailroom backup DIR|- [--age RECIPIENT]... [--gpg KEY]... [--include-secret-key] [--full] [--pace PERCENT] [--json]
./mailroom backup verify DIR|- [--id ID] [--identity FILE] [--quick] [--database-url URL] [--json]
./mailroom backup list DIR [--json]
./mailroom backup prune DIR --keep N [--json]

backup copies all that the database holds, while mail flows: the tables as they stood at one moment, then the bytes of the
  messages. DIR keeps several backups, and of each only what the earlier ones have not; a folder for each database. With -
  it writes one tar archive, which unpacks to such a folder, to standard output.
  --age RECIPIENT, --gpg KEY   encrypt it for them (age1… or a file of such lines; a key that gpg knows). Names, sizes,
                        counts and ids stay readable, so that the next backup needs no key.
  --include-secret-key  put the secret key, which opens the DKIM keys, into the backup though it is not encrypted.
                        An encrypted backup always holds it; of any other the key has to be kept elsewhere.
  --full                copy all bytes anew: after verify has found damage
  --pace PERCENT        the part of the time that it works, 50 unless you say otherwise: a third of it while the machine
                        is busy. With 100 it never rests
verify restores the newest backup, or that with --id, for a trial into a database of its own, which it drops again, and
  compares the rows of each table and the bytes of each blob. What is damaged it names, and ends with status 1. When
  it last went well is recorded (mailroom_restore_last_proven_timestamp_seconds).
  --identity FILE       opens what is encrypted with age; for GnuPG the key must be in gpg's keyring
  --quick               only read the files; without the key only whether they are as they were written
  --database-url URL    use this empty database for the trial, and empty it again
list tells the backups that DIR keeps. prune removes all but the newest N.
The database is the one of MAILROOM_DATABASE_URL. ./mailroom restore brings a backup up.`,

  run(args, env) {
    const [verb, ...rest] = args
    if (verb === 'verify') return runVerify(rest, env)
    if (verb === 'list') return runList(rest)
    if (verb === 'prune') return runPrune(rest)
    return runCreate(args, env)
  },
}
