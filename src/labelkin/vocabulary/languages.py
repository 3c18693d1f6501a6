"""Languages of texts and of names: what stemmers call them, and the codes that names carry."""

#: Snowball's names of languages → the codes of BCP 47.
LANGUAGE_CODES = {
    "arabic": "ar", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl", "english": "en",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi",
    "hungarian": "hu", "indonesian": "id", "irish": "ga", "italian": "it", "lithuanian": "lt",
    "nepali": "ne", "norwegian": "no", "porter": "en", "portuguese": "pt", "romanian": "ro",
    "russian": "ru", "serbian": "sr", "spanish": "es", "swedish": "sv", "tamil": "ta",
    "turkish": "tr", "yiddish": "yi",
}  # fmt: skip
