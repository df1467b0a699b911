// The thread of the strips: one of their own, for a picture in space may take long.
import { StripPictures } from "./strip_pictures.js";

const pictures = new StripPictures((message) => postMessage(message));
onmessage = ({ data }) => pictures.take(data);
