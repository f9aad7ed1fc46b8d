import { httpJobs } from './http-jobs.ts'
import { everyProcessJobs } from './process-jobs.ts'
import { relayJobs } from './relay-jobs.ts'
import { certificateJobs, smtpJobs } from './smtp-jobs.ts'
import { webhookJobs } from './webhook-jobs.ts'

/** All background jobs, by the processes that run them: those with a role, with one of several, or all. */
export const jobs = {
  everyProcess: everyProcessJobs,
  smtpOrHttp: certificateJobs,
  smtp: smtpJobs,
  http: httpJobs,
  relay: relayJobs,
  webhooks: webhookJobs,
}
