/** A small receiver that checks signatures and prints events, for Node, Bun and Deno. */
export const typescriptReceiver = `import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
// npm install standardwebhooks
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '')

createServer(async (request, response) => {
  try {
    console.log(webhook.verify(await text(request), request.headers as Record<string, string>))
  } catch {
    response.statusCode = 401 // not from Mailroom
  }
  response.end()
}).listen(3000)`

/** The same in Python, with its standard library. */
export const pythonReceiver = `import base64, hmac, http.server, os, time

secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        sent_at = self.headers["webhook-timestamp"]
        signed = f"{self.headers['webhook-id']}.{sent_at}.".encode() + body
        signature = "v1," + base64.b64encode(hmac.digest(secret, signed, "sha256")).decode()
        given = self.headers["webhook-signature"].split()
        is_ours = any(hmac.compare_digest(signature, each) for each in given) and abs(time.time() - int(sent_at)) < 300
        print(body.decode() if is_ours else "not from Mailroom", flush=True)
        self.send_response(204 if is_ours else 401)
        self.end_headers()

http.server.HTTPServer(("", 3000), Receiver).serve_forever()`
