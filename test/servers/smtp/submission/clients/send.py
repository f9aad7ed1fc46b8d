"""Sends a message with a text, HTML and a picture in it. Arguments: port, certificate file. The key is in MAILROOM_KEY."""
import os
import smtplib
import ssl
import sys
from email.message import EmailMessage

port, certificate = int(sys.argv[1]), sys.argv[2]
message = EmailMessage()
message["From"] = "Dém Ö <hello@demo.test>"
message["To"] = "bob@friend.test"
message["Subject"] = "smtplib: Grüße"
message["X-Mailroom-Tag"] = "client=smtplib"
message.set_content("Grüße aus Python\n.\n..zwei Punkte\n")
message.add_alternative("<p>Grüße <img src='cid:pic@app'></p>", subtype="html")
message.get_payload()[1].add_related(bytes(range(256)), "image", "png", cid="<pic@app>")
with smtplib.SMTP("localhost", port, timeout=20) as server:
    server.starttls(context=ssl.create_default_context(cafile=certificate))
    server.login("app", os.environ["MAILROOM_KEY"])
    server.send_message(message)
