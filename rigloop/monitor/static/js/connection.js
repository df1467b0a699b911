// The connection to the page's own server: it comes back by itself, as often as it has to.
const AGAIN_MS = 1000;
const MOST_BYTES = 1 << 16; // of a message: the server hangs up on a longer one

export class Connection {
  constructor(onMessage, onFrame, onState) {
    this.onMessage = onMessage;
    this.onFrame = onFrame;
    this.onState = onState;
    this.token = new URLSearchParams(location.search).get("token") || "";
    this.socket = null;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/ws?token=${encodeURIComponent(this.token)}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.socket = socket;
      this.onState(true, "");
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.onMessage(JSON.parse(data));
      else this.onFrame(...unframed(data));
    };
    socket.onclose = (event) => {
      this.socket = null;
      this.onState(false, event.reason);
      setTimeout(() => this.connect(), AGAIN_MS);
    };
  }

  // returns why a message was not sent
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return "the server of this page is not there";
    const text = JSON.stringify(message);
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > MOST_BYTES) return `too much at once: ${message.do} has ${bytes} bytes, and ${MOST_BYTES} may be sent; choose fewer signals`;
    this.socket.send(text);
    return "";
  }
}

// length of a header as uint32, header in JSON, numbers as float64
function unframed(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return [header, new Float64Array(buffer, 4 + length)];
}
