import type { InboundPipeline } from './incoming-message.ts'
import { refuseMail } from './smtp-refusal.ts'

/** The way in while there is room for what comes: 452 4.3.1 to RCPT and after DATA when there is none. */
export function whileThereIsRoom(wayIn: InboundPipeline, hasRoom: () => boolean): InboundPipeline {
  const requireRoom = () => {
    if (!hasRoom()) throw refuseMail('disk_full')
  }
  return {
    async findRecipient(address) {
      requireRoom()
      return await wayIn.findRecipient(address)
    },
    async receive(mail) {
      requireRoom()
      return await wayIn.receive(mail)
    },
  }
}
