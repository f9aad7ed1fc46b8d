import { publicAddress } from '../base/config/public-address.ts'
import type { Db } from '../base/database/database.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { openSending, type SendDeps } from '../sending/accept/open-sending.ts'
import type { AppContext } from './app-context.ts'

/** Opens sending for a role that has it besides HTTP, until the process stops. `wakeRelay`: an email may be due. */
export function openRoleSending(context: AppContext, db: Db, wakeRelay: () => void): SendDeps {
  const { config, clock, provider, diskSpace, onStop } = context
  const sending = openSending({
    db,
    blobs: mysqlBlobs(db, clock),
    clock,
    provider: provider.traits.name,
    publicUrl: publicAddress(config),
    hasDiskSpace: diskSpace.hasSpace,
    wake: wakeRelay,
  })
  onStop(() => sending.renderer.close())
  return sending
}
