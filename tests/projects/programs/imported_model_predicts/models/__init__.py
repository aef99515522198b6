from models.classifier import Classifier
